/** Whether a path is the folder itself or inside it, judged by spelling alone. */
export function isAtOrBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
