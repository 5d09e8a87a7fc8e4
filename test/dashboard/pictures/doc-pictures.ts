/** A picture in the documentation, as `npm run screenshots` makes it. */
export interface DocPicture {
  /** Its name in `docs/pictures`, without `.webp`. */
  readonly file: string
  /** The name of a view. */
  readonly view: string
  readonly theme: 'light' | 'dark'
  readonly width: number
  readonly height: number
  /** What stands at the top of the picture, where that is not the top of the page: a heading. */
  readonly from?: string
}

const WIDE = { width: 1440, height: 900 } as const
const PHONE = { width: 390, height: 844 } as const

/** Every picture that the documentation shows, and no other. */
export const DOC_PICTURES: readonly DocPicture[] = [
  { file: 'inbox', view: 'inbox-chosen', theme: 'light', ...WIDE },
  { file: 'inbox-dark', view: 'inbox-chosen', theme: 'dark', ...WIDE },
  { file: 'approval', view: 'approval', theme: 'light', ...WIDE },
  { file: 'approval-changes', view: 'approval', theme: 'dark', ...WIDE, from: 'Changes' },
  { file: 'board', view: 'board', theme: 'light', ...WIDE },
  { file: 'task', view: 'task', theme: 'dark', ...WIDE },
  { file: 'council', view: 'council', theme: 'light', ...WIDE },
  { file: 'contract', view: 'contract', theme: 'dark', width: 1440, height: 760 },
  { file: 'insights', view: 'insights', theme: 'light', ...WIDE },
  { file: 'phone-inbox', view: 'inbox', theme: 'light', ...PHONE },
  { file: 'phone-approval', view: 'approval', theme: 'dark', ...PHONE },
]
