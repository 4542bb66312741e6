import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { ChartData } from './chart.tsx'
import { formatAbsolute, formatTicks } from './format-time.ts'

const tones = ['--accent', '--bad', '--busy', '--warn'] as const

/** Draws lines over time into an element; returns what takes them away again. Loaded only where a chart is shown. */
export function plot(into: HTMLElement, { at, series, unit = '' }: ChartData, height: number): () => void {
  const colour = (name: string) => getComputedStyle(into).getPropertyValue(name).trim()
  // A canvas knows no light-dark(): a computed colour of an element does.
  const resolved = (name: string) => {
    into.style.color = `var(${name})`
    const { color } = getComputedStyle(into)
    into.style.color = ''
    return color
  }
  // Functions, so that a change of the theme needs no more than to draw again.
  const [ink, line] = [() => resolved('--ink-faint'), () => resolved('--line')]
  const axis = {
    stroke: ink,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: `11px ${colour('--font')}`,
  }
  const chart = new uPlot(
    {
      width: into.clientWidth,
      height,
      cursor: { y: false },
      legend: { show: series.length > 1 },
      scales: { y: { range: (_chart, _min, max) => [0, Math.max(max * 1.1, 1)] } },
      axes: [
        { ...axis, values: (_chart, ticks) => formatTicks(ticks.map(tick => tick * 1000)) },
        { ...axis, size: 54, values: (_chart, ticks) => ticks.map(tick => `${tick}${unit}`) },
      ],
      series: [
        { label: 'Time', value: (_chart, at) => (at == null ? '–' : formatAbsolute(new Date(at * 1000))) },
        ...series.map(({ label, values }, index) => ({
          label,
          width: 1.75,
          stroke: () => resolved(toneAt(index)),
          // Only of what has no neighbour, and so no line.
          points: { show: false, size: 5, filter: () => lonely(values), fill: () => resolved(toneAt(index)) },
        })),
      ],
    },
    [at.map(time => time / 1000), ...series.map(({ values }) => [...values])],
    into,
  )
  const resized = new ResizeObserver(() => chart.setSize({ width: into.clientWidth, height }))
  resized.observe(into)
  const recolour = () => chart.redraw()
  const darkness = window.matchMedia('(prefers-color-scheme: dark)')
  darkness.addEventListener('change', recolour)
  const chosen = new MutationObserver(recolour)
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    resized.disconnect()
    darkness.removeEventListener('change', recolour)
    chosen.disconnect()
    chart.destroy()
  }
}

function toneAt(index: number): string {
  return tones[index % tones.length] ?? '--accent'
}

function lonely(values: ReadonlyArray<number | null>): number[] {
  return values.flatMap((value, at) => (value != null && values[at - 1] == null && values[at + 1] == null ? [at] : []))
}
