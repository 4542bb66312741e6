import { ChartLine, Table2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import styles from './chart.module.css'
import { formatAbsolute } from './format-time.ts'

export type ChartData = {
  /** Milliseconds since 1970, rising. */
  at: readonly number[]
  series: ReadonlyArray<{ label: string; values: ReadonlyArray<number | null> }>
  /** Written after each number, such as " ms". */
  unit?: string
}

/** Lines over time, and the same numbers as a table for whoever reads rather than looks. */
export function Chart({ title, data, height = 200 }: { title: string; data: ChartData; height?: number }): ReactNode {
  const [isTable, setIsTable] = useState(false)
  return (
    <figure className={styles.figure}>
      <div className={styles.head}>
        <h3>{title}</h3>
        <IconButton
          size="small"
          label={isTable ? `${title}: show as a chart` : `${title}: show as a table`}
          icon={isTable ? <ChartLine size={15} /> : <Table2 size={15} />}
          onClick={() => setIsTable(!isTable)}
        />
      </div>
      {isTable ? <Numbers title={title} data={data} /> : <Lines title={title} data={data} height={height} />}
    </figure>
  )
}

function Lines({ title, data, height }: { title: string; data: ChartData; height: number }): ReactNode {
  const into = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let remove = () => {}
    let isGone = false
    void import('./plot.ts').then(({ plot }) => {
      if (into.current && !isGone) remove = plot(into.current, data, height)
    })
    return () => {
      isGone = true
      remove()
    }
  }, [data, height])
  return (
    <div ref={into} role="img" aria-label={`${title}, as a chart. The button beside the title shows the numbers.`} />
  )
}

function Numbers({ title, data: { at, series, unit = '' } }: { title: string; data: ChartData }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
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
              <th scope="row">{formatAbsolute(new Date(time))}</th>
              {series.map(({ label, values }) => (
                <td key={label}>{values[index] == null ? '–' : `${values[index]}${unit}`}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
