export interface AnswerLimits {
  /** Of text and reasoning together. */
  readonly textCharsMax: number
  /** Of one call. */
  readonly argumentsCharsMax: number
  readonly callsMax: number
}
