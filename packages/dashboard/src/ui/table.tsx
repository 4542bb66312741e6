import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { Link } from 'react-router'
import { classNames } from './class-names.ts'
import styles from './table.module.css'

export type Column<Row> = {
  id: string
  header: ReactNode
  cell(row: Row): ReactNode
  align?: 'start' | 'end'
  /** Left out on narrow screens. */
  isExtra?: boolean
  /** Its cell is the link of the row. Default: the first column's. */
  isLead?: boolean
  /** As narrow as what stands in it. */
  isTight?: boolean
}

export type TableProps<Row> = {
  /** What is listed, for screen readers. */
  label: string
  columns: ReadonlyArray<Column<Row>>
  /** Undefined while they are read: the table shows its shape. */
  rows: readonly Row[] | undefined
  rowKey(row: Row): string
  /** Where a row leads: its leading cell becomes the link, and the whole row answers the pointer. */
  rowLink?(row: Row): string
  /** Rows that have just arrived. */
  isFresh?(row: Row): boolean
}

const bones = ['a', 'b', 'c', 'd', 'e', 'f']

/** A table; ↑ and ↓ go from row to row where rows are links. */
export function Table<Row>({ label, columns, rows, rowKey, rowLink, isFresh }: TableProps<Row>): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null)
  const lead = columns.find(({ isLead }) => isLead) ?? columns[0]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the screen is scrolled with the keyboard
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
  return bones.map(bone => (
    <tr key={bone}>
      {columns.map(column => (
        <td key={column.id} className={classOf(column)}>
          <Skeleton />
        </td>
      ))}
    </tr>
  ))
}

/** The place of something that is still being read. */
export function Skeleton(): ReactNode {
  return <span className={styles.bone} aria-hidden="true" />
}

function classOf<Row>({ align, isExtra, isTight }: Column<Row>): string | undefined {
  return classNames(align === 'end' && styles.end, isExtra && styles.extra, isTight && styles.tight) || undefined
}

function moveBetweenRows(event: KeyboardEvent, body: HTMLElement | null): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const links = [...(body?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])]
  const at = links.findIndex(link => link.matches(':focus'))
  const next = at === -1 ? undefined : links[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (!next) return
  event.preventDefault()
  next.focus()
}
