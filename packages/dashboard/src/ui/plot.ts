import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { ChartData } from './chart.tsx'
import { formatValue } from './format-amount.ts'
import { formatAbsolute, formatTicks } from './format-time.ts'

const tones = ['accent', 'bad', 'busy', 'warn'] as const

/** Draws lines over time into an element. Returns a function that removes them. Loaded on demand. */
export function plot(into: HTMLElement, data: ChartData, height: number, onPick: (index: number) => void): () => void {
  let chart = draw(into, data, height)
  // The legend keeps the colors it was created with.
  const recolor = () => {
    chart.destroy()
    chart = draw(into, data, height)
  }
  const resized = new ResizeObserver(() => chart.setSize({ width: into.clientWidth, height }))
  resized.observe(into)
  const darkness = window.matchMedia('(prefers-color-scheme: dark)')
  darkness.addEventListener('change', recolor)
  const chosen = new MutationObserver(recolor)
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  const onClick = () => {
    const { idx } = chart.cursor
    if (idx != null) onPick(idx)
  }
  into.addEventListener('click', onClick)
  return () => {
    into.removeEventListener('click', onClick)
    resized.disconnect()
    darkness.removeEventListener('change', recolor)
    chosen.disconnect()
    chart.destroy()
  }
}

function draw(into: HTMLElement, { at, series, isDuration }: ChartData, height: number): uPlot {
  // A canvas does not support light-dark(), so the color is computed by an element.
  const resolved = (name: string) => {
    into.style.color = `var(--${name})`
    const { color } = getComputedStyle(into)
    into.style.color = ''
    return color
  }
  const axis = {
    stroke: resolved('ink-faint'),
    grid: { stroke: resolved('line'), width: 1 },
    ticks: { show: false },
    font: `11px ${getComputedStyle(into).getPropertyValue('--font').trim()}`,
  }
  return new uPlot(
    {
      width: into.clientWidth,
      height,
      cursor: { y: false },
      legend: { show: series.length > 1 },
      scales: { y: { range: (_chart, _min, max) => [0, Math.max(max * 1.1, 1)] } },
      axes: [
        { ...axis, values: (_chart, ticks) => formatTicks(ticks.map(tick => tick * 1000)) },
        {
          ...axis,
          size: (_chart, labels) => Math.max(40, 12 + 7 * Math.max(0, ...(labels ?? []).map(label => label.length))),
          values: (_chart, ticks) => ticks.map(tick => formatValue(tick, isDuration)),
        },
      ],
      series: [
        { label: 'Time', value: (_chart, at) => (at == null ? '–' : formatAbsolute(new Date(at * 1000))) },
        ...series.map(({ label, values, tone }, index) => {
          const stroke = resolved(tone ?? tones[index % tones.length] ?? 'accent')
          // Draws points only for values without a neighbor, which have no line.
          return {
            label,
            value: (_chart: uPlot, value: number | null) => formatValue(value, isDuration),
            width: 1.75,
            stroke,
            points: { show: false, size: 5, filter: () => isolated(values), fill: stroke },
          }
        }),
      ],
    },
    [at.map(time => time / 1000), ...series.map(({ values }) => [...values])],
    into,
  )
}

function isolated(values: ReadonlyArray<number | null>): number[] {
  return values.flatMap((value, at) => (value != null && values[at - 1] == null && values[at + 1] == null ? [at] : []))
}
