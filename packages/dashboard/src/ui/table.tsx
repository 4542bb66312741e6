import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { Link } from 'react-router'
import { classNames } from './class-names.ts'
import styles from './table.module.css'

export type Column<Row> = {
  id: string
  header: ReactNode
  cell(row: Row): ReactNode
  align?: 'start' | 'end'
  /** Hidden on narrow screens. */
  isExtra?: boolean
  /** Its cell holds the link of the row. Default: the first column. */
  isLead?: boolean
  /** As narrow as its content. */
  isTight?: boolean
}

export type TableProps<Row> = {
  /** The accessible name. */
  label: string
  columns: ReadonlyArray<Column<Row>>
  /** Undefined while loading: the table then shows skeleton rows. */
  rows: readonly Row[] | undefined
  rowKey(row: Row): string
  /** The target of a row. The lead cell becomes a link, and the whole row is clickable. */
  rowLink?(row: Row): string
  /** Whether a row has just arrived. */
  isFresh?(row: Row): boolean
}

const skeletonRows = ['a', 'b', 'c', 'd', 'e', 'f']

/** A table. ↑ and ↓ move the focus between rows that are links. */
export function Table<Row>({ label, columns, rows, rowKey, rowLink, isFresh }: TableProps<Row>): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null)
  const lead = columns.find(({ isLead }) => isLead) ?? columns[0]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll a table that is wider than the screen
    <section className={styles.frame} aria-label={label} tabIndex={0}>
      <table className={styles.table} aria-busy={rows === undefined}>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column.id} scope="col" className={classOf(column)}>
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={event => moveBetweenRows(event, body.current)}>
          {rows?.map(row => (
            <tr key={rowKey(row)} className={classNames(rowLink && styles.row, isFresh?.(row) && styles.fresh)}>
              {columns.map(column => (
                <td key={column.id} className={classOf(column)}>
                  {column === lead && rowLink ? (
                    <Link to={rowLink(row)} className={styles.rowLink} data-row-link="">
                      {column.cell(row)}
                    </Link>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
          {rows === undefined && <SkeletonRows columns={columns} />}
        </tbody>
      </table>
    </section>
  )
}

function SkeletonRows<Row>({ columns }: { columns: ReadonlyArray<Column<Row>> }): ReactNode {
  return skeletonRows.map(row => (
    <tr key={row}>
      {columns.map(column => (
        <td key={column.id} className={classOf(column)}>
          <Skeleton />
        </td>
      ))}
    </tr>
  ))
}

/** A placeholder for content that is loading. */
export function Skeleton(): ReactNode {
  return <span className={styles.skeleton} aria-hidden="true" />
}

function classOf<Row>({ align, isExtra, isTight }: Column<Row>): string | undefined {
  return classNames(align === 'end' && styles.end, isExtra && styles.extra, isTight && styles.tight) || undefined
}

/** Moves the focus between elements with `data-row-link`. A list out of order numbers its links there. */
export function moveBetweenRows(event: KeyboardEvent, list: HTMLElement | null): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const links = [...(list?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])].sort(
    (a, b) => Number(a.dataset.rowLink) - Number(b.dataset.rowLink),
  )
  const at = links.findIndex(link => link.matches(':focus'))
  const next = at === -1 ? undefined : links[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (!next) return
  event.preventDefault()
  next.focus()
}
