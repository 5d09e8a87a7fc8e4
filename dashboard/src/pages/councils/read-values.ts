export function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function readName(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function readCount(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

export function readList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
