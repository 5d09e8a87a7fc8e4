/** The agent holds another task. */
export class AgentBusy extends Error {
  override readonly name = 'AgentBusy'
}

/** Another node decides on the stream. */
export class WrongNode extends Error {
  override readonly name = 'WrongNode'
  constructor(
    readonly stream: string,
    readonly home: string,
  ) {
    super(`${stream} belongs to ${home}`)
  }
}
