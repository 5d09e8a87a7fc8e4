let code: string | null = null

/** Takes the one-time code out of the address, so that neither history nor a copied link keeps it. */
export function takeCodeFromAddress(): void {
  if (location.pathname !== '/login' || location.hash === '') return
  code = new URLSearchParams(location.hash.slice(1)).get('code')
  history.replaceState(history.state, '', '/login')
}

/** The code that the page was opened with; it is given out once. */
export function takeCode(): string | null {
  const taken = code
  code = null
  return taken
}

export function hasCode(): boolean {
  return code !== null
}
