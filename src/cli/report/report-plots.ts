import { BarChart, ScatterChart } from 'echarts/charts'
import { GridComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { html, type Markup, trustMarkup } from './report-markup.js'

const WIDTH = 720
const ROW_HEIGHT = 30
const FRAME_HEIGHT = 56
const CHAR_WIDTH = 7
const LABEL_CHARS_MAX = 32
const SERIES_MAX = 7
const BAR_WIDTH_MAX = 18
const OTHERS = 'others'

/** Colours that the page defines, for light and for dark. */
const COLOURS = Array.from({ length: SERIES_MAX + 1 }, (_, at) => `var(--c${at + 1})`)
const TEXT = { color: 'var(--ink)', fontSize: 12, fontFamily: 'inherit' }
const AXIS = {
  axisLabel: { ...TEXT, fontSize: 11 },
  axisLine: { lineStyle: { color: 'var(--line)' } },
  axisTick: { show: false },
  splitLine: { lineStyle: { color: 'var(--line)' } },
  nameTextStyle: TEXT,
}

use([BarChart, ScatterChart, GridComponent, SVGRenderer])

interface Series {
  readonly name: string
  /** One value for each row. */
  readonly values: readonly number[]
}

interface Bars {
  readonly title: string
  readonly unit: string
  readonly rows: readonly string[]
  readonly series: readonly Series[]
}

/** Bars from left to right, one row for each name, the series one behind the other. */
export function renderBarsPlot({ title, unit, rows, series }: Bars): Markup {
  const shown = mergeSmallSeries(series)
  const option = {
    ...buildFrame(unit, rows),
    series: shown.map(({ name, values }, at) => ({
      ...{ type: 'bar', stack: 'all', name: shortenText(name), data: values },
      ...{ silent: true, barMaxWidth: BAR_WIDTH_MAX, itemStyle: { color: COLOURS[at] } },
    })),
  }
  const marks = shown.length < 2 ? [] : shown.map(({ name }, at) => ({ name, glyph: GLYPH_OF_BARS, at }))
  return renderFigure(title, option, { rows: rows.length, marks })
}

interface Span {
  readonly row: string
  readonly from: number
  readonly seconds: number
}

/** When each row began and how long it took. */
export function renderSpansPlot(title: string, spans: readonly Span[]): Markup {
  const rows = spans.map(({ row }) => row)
  const bar = { type: 'bar', stack: 'all', silent: true, barMaxWidth: BAR_WIDTH_MAX }
  const option = {
    ...buildFrame('seconds since the start', rows),
    series: [
      { ...bar, data: spans.map(({ from }) => from), itemStyle: { color: 'transparent' } },
      { ...bar, data: spans.map(({ seconds }) => seconds), itemStyle: { color: COLOURS[0] } },
    ],
  }
  return renderFigure(title, option, { rows: rows.length, marks: [] })
}

interface Moment {
  readonly row: string
  readonly kind: string
  readonly seconds: number
}

const GLYPH_OF_BARS = '■'

// The shape also distinguishes the kinds: colour is never the only signal.
const SHAPES = [
  { symbol: 'circle', glyph: '●' },
  { symbol: 'triangle', glyph: '▲' },
  { symbol: 'rect', glyph: '■' },
  { symbol: 'diamond', glyph: '◆' },
  { symbol: 'path://M0 0L10 0L5 10Z', glyph: '▼' },
  { symbol: 'path://M2 0L5 3L8 0L10 2L7 5L10 8L8 10L5 7L2 10L0 8L3 5L0 2Z', glyph: '✖' },
] as const

interface Moments {
  readonly title: string
  readonly rows: readonly string[]
  /** In the order of their shapes and colours, whether they occur or not. */
  readonly kinds: readonly string[]
  readonly moments: readonly Moment[]
}

/** A timeline: a mark for each moment, in the row it concerns. */
export function renderMomentsPlot({ title, rows, kinds: all, moments }: Moments): Markup {
  const kinds = all.slice(0, SHAPES.length)
  const option = {
    ...buildFrame('seconds since the start', rows),
    series: kinds.map((kind, at) => ({
      ...{ type: 'scatter', name: shortenText(kind), silent: true, symbol: SHAPES[at]?.symbol, symbolSize: 11 },
      data: moments
        .filter((moment) => moment.kind === kind)
        .map((moment) => [moment.seconds, rows.indexOf(moment.row)]),
      itemStyle: { color: COLOURS[at], opacity: 0.85 },
    })),
  }
  const marks = kinds
    .map((name, at) => ({ name, glyph: SHAPES[at]?.glyph ?? '', at }))
    .filter(({ name }) => moments.some(({ kind }) => kind === name))
  return renderFigure(title, option, { rows: rows.length, marks })
}

function buildFrame(unit: string, rows: readonly string[]): Readonly<Record<string, unknown>> {
  const names = rows.map(shortenText)
  // Fonts cannot be measured here: reserve the maximum width of the widest name.
  const left = Math.max(...names.map((name) => name.length), 0) * CHAR_WIDTH + 16
  const isWhole = !unit.startsWith('seconds')
  return {
    animation: false,
    textStyle: TEXT,
    grid: { left, right: 24, top: 8, bottom: 40, outerBoundsMode: 'none' },
    xAxis: {
      ...{ type: 'value', name: unit, nameLocation: 'middle', nameGap: 26, ...AXIS },
      ...(isWhole ? { minInterval: 1 } : {}),
    },
    yAxis: { type: 'category', inverse: true, data: names, ...AXIS, splitLine: { show: false } },
  }
}

/** The largest series separately, the rest in one. */
function mergeSmallSeries(series: readonly Series[]): readonly Series[] {
  if (series.length <= SERIES_MAX + 1) return series
  const total = ({ values }: Series): number => values.reduce((sum, value) => sum + value, 0)
  const sorted = series.toSorted((a, b) => total(b) - total(a))
  const rest = sorted.slice(SERIES_MAX)
  const values = (rest[0]?.values ?? []).map((_, at) => rest.reduce((sum, one) => sum + (one.values[at] ?? 0), 0))
  return [...sorted.slice(0, SERIES_MAX), { name: OTHERS, values }]
}

interface Frame {
  readonly rows: number
  readonly marks: readonly { readonly name: string; readonly glyph: string; readonly at: number }[]
}

function renderFigure(title: string, option: Readonly<Record<string, unknown>>, { rows, marks }: Frame): Markup {
  const height = FRAME_HEIGHT + Math.max(1, rows) * ROW_HEIGHT
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  try {
    chart.setOption(option)
    const svg = trustMarkup(embedSvg(chart.renderToSVGString({ useViewBox: true })))
    const names = marks.map(
      ({ name, glyph, at }) =>
        html`<li><span class="mark m${at + 1}" aria-hidden="true">${glyph}</span> ${shortenText(name)}</li>`,
    )
    const legend = names.length === 0 ? html`` : html`<ul class="legend">${names}</ul>`
    return html`<figure><figcaption>${title}</figcaption>${legend}<div role="img" aria-label="${title}">${svg}</div></figure>`
  } finally {
    chart.dispose()
  }
}

/** The picture at full width, without its own styles. The library has escaped the texts. */
function embedSvg(svg: string): string {
  return svg
    .replace(/^<svg width="\d+" height="\d+"/, '<svg')
    .replace(/<style\s*><!\[CDATA\[[^<]*\]\]>\s*<\/style>/g, '')
}

function shortenText(text: string): string {
  const chars = [...text]
  return chars.length > LABEL_CHARS_MAX ? `${chars.slice(0, LABEL_CHARS_MAX - 1).join('')}…` : text
}
