import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { ChartData } from './chart.tsx'

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
      axes: [axis, { ...axis, size: 54, values: (_chart, ticks) => ticks.map(tick => `${tick}${unit}`) }],
      series: [
        {},
        ...series.map(({ label }, index) => ({
          label,
          width: 1.75,
          stroke: () => resolved(tones[index % tones.length] ?? '--accent'),
          points: { show: false },
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
