/** An address that is told of events, and the variable that holds what notices are signed with. */
export interface Webhook {
  readonly url: string
  readonly events: readonly string[]
  readonly secretEnvVar: string | null
}
