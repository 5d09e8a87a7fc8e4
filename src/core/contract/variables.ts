const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
/** The shell sets these itself, or splits words by them. */
const HELD_BY_SHELL: ReadonlySet<string> = new Set([
  'BASHOPTS',
  'BASH_VERSINFO',
  'EUID',
  'IFS',
  'PPID',
  'SHELLOPTS',
  'UID',
])
/** The kernel's maximum length of `NAME=value`, including the terminating byte. */
const VARIABLE_BYTES_MAX = 128 * 1024 - 1

/** True when a shell, the kernel and every program agree that this is the name of an environment variable. */
export function isVariableName(name: string): boolean {
  return NAME.test(name)
}

/**
 * True when the shell that starts a command sets this variable itself, so that another value never reaches the command.
 */
export function isHeldByShell(name: string): boolean {
  return HELD_BY_SHELL.has(name)
}

/** Why no program can start with this value; null when one can. */
export function findValueProblem(name: string, value: string): string | null {
  if (value.includes('\0')) return 'contains a NUL character'
  return countBytes(name) + 1 + countBytes(value) > VARIABLE_BYTES_MAX
    ? `is longer than ${VARIABLE_BYTES_MAX} bytes together with its name`
    : null
}

/**
 * The variables that a command can be given. A contract loaded by an earlier version may contain others, which are
 * dropped. Values that are too long are refused by the kernel, and the command says so.
 */
export function keepSettable(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => isVariableName(name) && !isHeldByShell(name) && !value.includes('\0'),
    ),
  )
}

// In UTF-8, as the kernel counts. A lone surrogate becomes three bytes.
function countBytes(text: string): number {
  let bytes = 0
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}
