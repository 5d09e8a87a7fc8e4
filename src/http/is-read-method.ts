/** HEAD is GET without the body: whatever holds for one holds for the other. */
export function isReadMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}
