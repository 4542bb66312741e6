import type { ReactNode } from 'react'
import styles from './chart.module.css'
import type { ChartData, Tone } from './chart.tsx'
import { classNames } from './class-names.ts'
import { formatValue } from './format-amount.ts'

const tones: readonly Tone[] = ['accent', 'bad', 'busy', 'warn']

export type PlotProps = {
  data: ChartData
  height: number
  /** Returns the text that hovering over a value shows. */
  tooltipOf(index: number): string
  onPick: ((index: number) => void) | undefined
}

/** Draws lines over time. A gap is a value that is null; a value between two gaps is a point. */
export function Lines({ data: { at, series, isDuration = false }, height, tooltipOf, onPick }: PlotProps) {
  const max = Math.max(0, ...series.flatMap(({ values }) => values.map(value => value ?? 0)))
  const ticks = ticksOf(max, isDuration)
  const top = ticks.at(-1) ?? 1
  const y = (value: number) => 100 - (value / top) * 100
  return (
    <div className={styles.lines} style={{ height }}>
      <div className={styles.scale}>
        {ticks.map(tick => (
          <span key={tick} style={{ top: `${y(tick)}%` }}>
            {formatValue(tick, isDuration)}
          </span>
        ))}
      </div>
      <div className={styles.plot}>
        <svg viewBox={`0 0 ${Math.max(at.length, 1)} 100`} preserveAspectRatio="none" aria-hidden="true">
          {ticks.map(tick => (
            <path key={tick} className={styles.grid} d={`M0 ${y(tick)}H${at.length}`} />
          ))}
          {series.map(({ label, values }, index) => (
            <g key={label} className={styles[toneOfSeries(series, index)]}>
              <path className={styles.line} d={lineOf(values, y)} />
              <path className={styles.point} d={pointsOf(values, y)} />
            </g>
          ))}
        </svg>
        <div className={styles.slots}>
          {at.map((time, index) => (
            <Slot key={time} {...{ index, tooltipOf, onPick }} />
          ))}
        </div>
      </div>
    </div>
  )
}

type SlotProps = Pick<PlotProps, 'tooltipOf' | 'onPick'> & { index: number; children?: ReactNode }

/** The place of a value. A click opens its page, and hovering shows its numbers. */
export function Slot({ index, tooltipOf, onPick, children }: SlotProps) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the table has links for the keyboard
    // biome-ignore lint/a11y/useKeyWithClickEvents: the same
    <div
      className={classNames(styles.slot, onPick && styles.pickable)}
      title={tooltipOf(index)}
      onClick={onPick && (() => onPick(index))}
    >
      {children}
    </div>
  )
}

export function toneOfSeries(series: ChartData['series'], index: number): Tone {
  return series[index]?.tone ?? tones[index % tones.length] ?? 'accent'
}

function lineOf(values: ReadonlyArray<number | null>, y: (value: number) => number): string {
  return values
    .map((value, index) => value !== null && `${values[index - 1] == null ? 'M' : 'L'}${index + 0.5} ${y(value)}`)
    .filter(Boolean)
    .join('')
}

// Draws values without a neighbor as points: lines of zero length with round ends.
function pointsOf(values: ReadonlyArray<number | null>, y: (value: number) => number): string {
  return values
    .map((value, index) => {
      const isAlone = value !== null && values[index - 1] == null && values[index + 1] == null
      return isAlone ? `M${index + 0.5} ${y(value)}h0` : ''
    })
    .join('')
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const durations = [second, minute, hour].flatMap(unit => [1, 2, 5, 10, 15, 30].map(steps => steps * unit))

/** Returns three to five round values from 0 to at least the maximum, for an axis. */
export function ticksOf(max: number, isDuration: boolean): number[] {
  const step = stepOf(Math.max(max, 4) / 4, isDuration)
  const count = Math.max(2, Math.ceil(max / step))
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

// Durations from a second on have steps of the clock.
function stepOf(least: number, isDuration: boolean): number {
  const ofClock = isDuration && least > second / 2 && durations.find(step => step >= least)
  if (ofClock) return ofClock
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 5, 10].find(step => step * power >= least) ?? 10) * power
}
