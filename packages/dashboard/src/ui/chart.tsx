import { ChartLine, Table2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useNavigate } from 'react-router'
import { IconButton, Link } from './button.tsx'
import styles from './chart.module.css'
import { classNames } from './class-names.ts'
import { formatValue } from './format-amount.ts'
import { formatAbsolute, formatTicks } from './format-time.ts'
import { Lines, type PlotProps, Slot, toneOfSeries } from './lines.tsx'

export type Tone = 'accent' | 'bad' | 'busy' | 'warn'

export type ChartData = {
  /** Unix times in milliseconds, ascending. */
  at: readonly number[]
  series: ReadonlyArray<{
    label: string
    values: ReadonlyArray<number | null>
    /** Default: accent, bad, busy, warn, in this order. */
    tone?: Tone
  }>
  /** Whether the values are durations in milliseconds. */
  isDuration?: boolean
  /** The time zone of the times. Default: the browser's. */
  timeZone?: string
}

export type ChartProps = {
  title: string
  data: ChartData
  height?: number
  /** Default: lines. Bars are for counts; several series are stacked. */
  kind?: 'lines' | 'bars'
  /** Leaves out the legend. */
  isCompact?: boolean
  /** Text below the chart, such as a warning that counts are partial. */
  note?: ReactNode
  /** The page about the time from one value to the next, in Unix milliseconds. */
  linkTo?(from: number, to: number): string
}

export function Chart({ title, data, height = 200, kind = 'lines', isCompact = false, note, linkTo }: ChartProps) {
  const [isTable, setIsTable] = useState(false)
  const navigate = useNavigate()
  const { at } = data
  const step = (at[1] ?? 0) - (at[0] ?? 0)
  const pathAt = linkTo && ((index: number) => linkTo(at[index] ?? 0, at[index + 1] ?? (at[index] ?? 0) + step))
  const onPick = pathAt && ((index: number) => void navigate(pathAt(index)))
  return (
    <figure className={styles.figure}>
      <div className={styles.head}>
        <h2>{title}</h2>
        <IconButton
          size="small"
          label={isTable ? `${title}: show as chart` : `${title}: show as table`}
          icon={isTable ? <ChartLine size={15} /> : <Table2 size={15} />}
          onClick={() => setIsTable(!isTable)}
        />
      </div>
      {isTable && <Numbers title={title} data={data} pathAt={pathAt} />}
      {!isTable && (
        <Drawing kind={kind} title={title} data={data} height={height} hasLegend={!isCompact} onPick={onPick} />
      )}
      {note && <p className={styles.note}>{note}</p>}
    </figure>
  )
}

type DrawnProps = Required<Pick<ChartProps, 'kind' | 'title'>> & Omit<PlotProps, 'tooltipOf'> & { hasLegend: boolean }

function Drawing({ kind, title, data, height, hasLegend, onPick }: DrawnProps) {
  const { at, series, isDuration, timeZone } = data
  const labels = formatTicks(at, timeZone)
  const shownEvery = Math.ceil(at.length / 6)
  const tooltipOf = (index: number) => {
    const numbers = series.map(({ label, values }) => `${label} ${formatValue(values[index], isDuration)}`)
    return `${formatAbsolute(new Date(at[index] ?? 0), timeZone)}: ${numbers.join(', ')}`
  }
  const Drawn = kind === 'lines' ? Lines : Bars
  return (
    <div role="img" aria-label={`${title}, as a chart. The button next to the title shows the numbers.`}>
      <Drawn data={data} height={height} tooltipOf={tooltipOf} onPick={onPick} />
      <div className={classNames(styles.ticks, kind === 'lines' && styles.indented)}>
        {at.map((time, index) => (
          // A label takes the space of all ticks up to the next label.
          <span key={time}>{index % shownEvery === 0 && index + shownEvery <= at.length && labels[index]}</span>
        ))}
      </div>
      {hasLegend && series.length > 1 && (
        <div className={styles.legend}>
          {series.map(({ label }, number) => (
            <span key={label}>
              <i className={styles[toneOfSeries(series, number)]} />
              {label}
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

// Few enough to be elements. Each shows its numbers on hover.
function Bars({ data: { at, series }, height, tooltipOf, onPick }: PlotProps) {
  const sums = at.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const top = Math.max(1, ...sums)
  return (
    <>
      <div className={styles.top}>{top.toLocaleString('en-GB')}</div>
      <div className={styles.bars} style={{ height }}>
        {at.map((time, index) => (
          <Slot key={time} {...{ index, tooltipOf, onPick }}>
            {series.map(({ label, values }, number) => (
              <div
                key={label}
                className={styles[toneOfSeries(series, number)]}
                style={{ height: heightOf(values[index] ?? 0, top) }}
              />
            ))}
          </Slot>
        ))}
      </div>
    </>
  )
}

// A value above 0 always stays visible.
function heightOf(value: number, top: number): string {
  return value === 0 ? '0' : `${Math.max((value / top) * 100, 3)}%`
}

type NumbersProps = { title: string; data: ChartData; pathAt: ((index: number) => string) | undefined }

function Numbers({ title, data: { at, series, isDuration, timeZone }, pathAt }: NumbersProps) {
  const times = at.map(time => formatAbsolute(new Date(time), timeZone))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it
    <section className={styles.table} aria-label={title} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {at.map((time, index) => (
            <tr key={time}>
              <th scope="row">{pathAt ? <Link to={pathAt(index)}>{times[index]}</Link> : times[index]}</th>
              {series.map(({ label, values }) => (
                <td key={label}>{formatValue(values[index], isDuration)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
