/** A webhook address, and the variable that holds its signing secret. */
export interface Webhook {
  readonly url: string
  readonly events: readonly string[]
  readonly secretEnvVar: string | null
}
