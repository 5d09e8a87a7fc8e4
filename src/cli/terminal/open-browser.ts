import { spawn } from 'node:child_process'

/** Opens the address in the user's browser; false when there seems to be none. */
export function openBrowser(url: string): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env
  const isMac = process.platform === 'darwin'
  if (!isMac && (DISPLAY ?? '') === '' && (WAYLAND_DISPLAY ?? '') === '') return false
  const child = spawn(isMac ? 'open' : 'xdg-open', [url], { detached: true, stdio: 'ignore' })
  // The link is printed as well.
  child.once('error', () => undefined)
  child.unref()
  return true
}
