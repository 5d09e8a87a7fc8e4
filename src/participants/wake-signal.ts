/** Wakes the waiting caller; a signal without a waiting caller is not lost. */
export class Bell {
  #isRung = false
  #wake: (() => void) | null = null

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  async wait(ms: number | null): Promise<void> {
    if (!this.#isRung) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (ms !== null) timer = setTimeout(resolve, ms)
      })
      clearTimeout(timer)
    }
    this.#wake = null
    this.#isRung = false
  }
}
