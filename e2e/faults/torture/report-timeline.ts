import { type Fault, seats } from './plan.ts'
import { describeFault, type TortureResult } from './run-torture.ts'

const [width, left, chartHeight, laneHeight, gap] = [960, 110, 90, 22, 14]
const lanes = [...seats, 'PostgreSQL', 'Redis']
const families: Record<string, Array<Fault['does']>> = {
  ended: ['kill', 'terminate', 'kill Redis', 'restart PostgreSQL', 'hang commits', 'fail over', 'restore'],
  frozen: ['freeze'],
  network: ['network', 'close connections'],
  clock: ['clock', 'step PostgreSQL clock'],
  data: ['flush Redis', 'fill disk', 'back up', 'hide time zones'],
}

/** Draws the calls of the target and of the API in each second, and the faults below them, as SVG. */
export function drawTimeline({ plan, struck, calledAt }: Pick<TortureResult, 'plan' | 'struck' | 'calledAt'>): string {
  const endAt = Math.max(plan.minutes * 60_000, ...calledAt, ...struck.map(({ until }) => until))
  const x = (ms: number) => left + (ms / endAt) * (width - left)
  const top = chartHeight + gap
  const height = top + lanes.length * laneHeight + 24
  const operations = perSecond(
    plan.load.map(({ at }) => at),
    endAt,
  )
  const calls = perSecond(calledAt, endAt)
  const max = Math.max(1, ...calls, ...operations)
  const y = (count: number) => chartHeight - (count / max) * (chartHeight - 8)
  const bars = calls.map((count, i) => {
    const [from, until] = [x(i * 1_000), x((i + 1) * 1_000)]
    return count === 0 ? '' : rect('calls', from, y(count), Math.max(0.8, until - from - 0.4), chartHeight - y(count))
  })
  const line = operations.map((count, i) => `${x(i * 1_000 + 500).toFixed(1)},${y(count).toFixed(1)}`).join(' ')
  const names = lanes.map((lane, i) => {
    const middle = top + i * laneHeight + laneHeight / 2
    return `<line x1="${left}" x2="${width}" y1="${middle}" y2="${middle}"/><text x="0" y="${middle + 4}">${lane}</text>`
  })
  const marks = struck.map(({ fault, from, until }) => {
    const lane = lanes.indexOf(laneOf(fault))
    const family = Object.keys(families).find(name => families[name]?.includes(fault.does)) ?? ''
    const size = Math.max(3, x(until) - x(from))
    return rect(family, x(from), top + lane * laneHeight + 4, size, laneHeight - 8, describeFault(fault))
  })
  const ticks = Array.from({ length: Math.floor(endAt / 30_000) + 1 }, (_, i) => {
    return `<text x="${x(i * 30_000).toFixed(1)}" y="${height - 4}">${i * 30} s</text>`
  })
  const title = 'Calls in each second, and the faults of each process and server'
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
<text x="0" y="14">${max} a second</text><text x="0" y="${chartHeight}">0</text>
${bars.filter(Boolean).join('\n')}
<polyline points="${line}"/>
${names.join('\n')}
${marks.join('\n')}
${ticks.join('')}
</svg>
<ul class="legend"><li class="calls">calls of the target</li><li class="load">calls of the API</li>${Object.keys(
    families,
  )
    .map(name => `<li class="${name}">${name}</li>`)
    .join('')}</ul>`
}

function laneOf(fault: Fault): string {
  if ('process' in fault) return fault.process
  return /Redis/.test(fault.does) ? 'Redis' : 'PostgreSQL'
}

function perSecond(moments: readonly number[], endAt: number): number[] {
  const counts = Array.from({ length: Math.ceil(endAt / 1_000) + 1 }, () => 0)
  for (const at of moments) {
    const second = Math.floor(at / 1_000)
    if (second >= 0) counts[second] = (counts[second] ?? 0) + 1
  }
  return counts
}

function rect(name: string, x: number, y: number, width: number, height: number, title = ''): string {
  const [left, top, wide, high] = [x, y, width, height].map(size => size.toFixed(1))
  const inside = title === '' ? '/>' : `><title>${title}</title></rect>`
  return `<rect class="${name}" x="${left}" y="${top}" width="${wide}" height="${high}"${inside}`
}
