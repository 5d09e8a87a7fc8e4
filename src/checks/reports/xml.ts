import { SaxesParser } from 'saxes'

export type Attributes = ReadonlyMap<string, string>

export interface XmlReader {
  open(name: string, attributes: Attributes): void
  text(text: string): void
  close(name: string): void
}

const DEPTH_MAX = 100
const ELEMENTS_MAX = 1_000_000

/** The reason given for a document whose end is missing. */
export const XML_CUT = 'it ends before its last element is closed'

class Stop extends Error {}

/**
 * Passes the elements of a document to the reader; returns the problem of the document, or null. Documents that are not
 * well-formed, use an entity that XML does not define itself, or are nested too deeply are read only up to that point.
 */
export function readXml(text: string, reader: XmlReader): string | null {
  const parser = new SaxesParser({ xmlns: false, position: false })
  let depth = 0
  let elements = 0
  parser.on('error', (error) => {
    throw new Stop(error.message)
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (++depth > DEPTH_MAX) throw new Stop(`elements are nested more than ${DEPTH_MAX} levels deep`)
    if (++elements > ELEMENTS_MAX) throw new Stop(`there are more than ${ELEMENTS_MAX} elements`)
    reader.open(name, new Map(Object.entries(attributes)))
  })
  parser.on('text', (part) => reader.text(part))
  parser.on('cdata', (part) => reader.text(part))
  parser.on('closetag', ({ name }) => {
    depth--
    reader.close(name)
  })
  let isAtEnd = false
  try {
    parser.write(text.startsWith('\ufeff') ? text.slice(1) : text)
    isAtEnd = true
    parser.close()
    return null
  } catch (error) {
    if (error instanceof Stop) return isAtEnd && elements > 0 ? XML_CUT : error.message
    throw error
  }
}
