import { readFileSync } from 'node:fs'
import { SERVICES, TOPICS, type Topic } from './services.js'

export interface Document {
  readonly file: string
  readonly text: string
}

export interface Question {
  readonly kind: 'close' | 'para'
  readonly file: string
  readonly heading: string
  readonly text: string
}

/** Written and made before anything could rank them; nothing was changed after the first measurement. */
export function documents(): readonly Document[] {
  const written = read('guides.txt')
    .split(/^=== /m)
    .filter((part) => part !== '')
    .map((part) => {
      const end = part.indexOf('\n')
      return { file: part.slice(0, end), text: part.slice(end + 1) }
    })
  return [...written, ...SERVICES.flatMap((_, at) => TOPICS.map((topic, of) => made(topic, at, of)))]
}

export function questions(): readonly Question[] {
  const written = read('questions.txt')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [kind, file, heading, text] = line.split(' | ')
      return {
        kind: kind === 'close' ? 'close' : 'para',
        file: file ?? '',
        heading: heading ?? '',
        text: text ?? '',
      } as const
    })
  return [...written, ...TOPICS.flatMap(asked)]
}

// Each topic is asked three times, about services that are fixed by its place in the list.
function asked(topic: Topic, of: number): readonly Question[] {
  const about = (at: number, kind: 'close' | 'para'): Question => ({
    kind,
    file: fileOf(topic, at),
    heading: topic.heading,
    text: filled(topic[kind], at, of),
  })
  const at = (of * 5) % SERVICES.length
  return [
    about(at, 'close'),
    about((at + 4) % SERVICES.length, 'para'),
    about((at + 7) % SERVICES.length, of % 2 === 0 ? 'close' : 'para'),
  ]
}

function made(topic: Topic, at: number, of: number): Document {
  const text = `# ${topic.title}\n\n${topic.intro}\n\n## ${topic.heading}\n\n${topic.body}\n`
  return { file: fileOf(topic, at), text: filled(text, at, of) }
}

function fileOf(topic: Topic, at: number): string {
  return `services/${SERVICES[at]?.name.toLowerCase()}/${topic.path}.md`
}

function filled(text: string, at: number, of: number): string {
  const service = SERVICES[at]
  return text
    .replaceAll('{s}', service?.name ?? '')
    .replaceAll('{does}', service?.does ?? '')
    .replaceAll('{n}', String(3 + ((at * 7 + of * 11) % 53)))
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
