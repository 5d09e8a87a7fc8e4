import { spawnSync } from 'node:child_process'

const UNTIL_MS_MAX = 120_000
// Each look at a screen starts a program.
const LOOK_MS = 400
// After that the key is pressed again.
const PRESS_MS = 1_600

export class Window {
  constructor(
    readonly name: string,
    private readonly tmux: (...words: readonly string[]) => string,
  ) {}

  /** Types a text and presses Enter, as a person would: not in the same moment. */
  async enter(text: string): Promise<void> {
    this.type(text)
    await sleep(300)
    this.press('Enter')
  }

  type(text: string): void {
    this.tmux('send-keys', '-t', this.name, '-l', text)
  }

  press(...keys: readonly string[]): void {
    this.tmux('send-keys', '-t', this.name, ...keys)
  }

  /** Everything from the beginning, without empty lines. */
  screen(): string {
    return this.tmux('capture-pane', '-p', '-S', '-', '-t', this.name)
      .split('\n')
      .filter((line) => line.trim() !== '')
      .join('\n')
  }

  shows(pattern: RegExp): Promise<string> {
    return until(
      () => this.screen(),
      (screen) => pattern.test(screen),
    )
  }
}

/** Presses a key until the screen is as wanted: one that is pressed while a dialog is drawn is lost. */
export async function pressUntil(window: Window, key: string, isSo: (screen: string) => boolean): Promise<void> {
  for (let tries = 0; tries < 20 && !isSo(window.screen()); tries += 1) {
    window.press(key)
    for (let looks = 0; looks < PRESS_MS / LOOK_MS && !isSo(window.screen()); looks += 1) await sleep(LOOK_MS)
  }
}

export const hasTmux = spawnSync('tmux', ['-V']).status === 0

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Looks until it is so. The time that it may take begins again with each progress. */
export async function until<T>(
  look: () => Promise<T> | T,
  isSo: (found: T) => boolean,
  measureProgress: (found: T) => number = () => 0,
): Promise<T> {
  let deadline = Date.now() + UNTIL_MS_MAX
  let progress = 0
  for (;;) {
    const found = await look()
    if (isSo(found)) return found
    if (measureProgress(found) > progress) {
      progress = measureProgress(found)
      deadline = Date.now() + UNTIL_MS_MAX
    }
    if (Date.now() > deadline)
      throw new Error(`not in time:\n${typeof found === 'string' ? found : JSON.stringify(found)}`)
    await sleep(LOOK_MS)
  }
}
