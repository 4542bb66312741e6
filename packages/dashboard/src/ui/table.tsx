import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Link } from 'react-router'
import { classNames } from './class-names.ts'
import styles from './table.module.css'

export type Column<Row> = {
  header: ReactNode
  cell(row: Row): ReactNode
  align?: 'end'
  /** Hidden on narrow screens. */
  isExtra?: boolean
  /** Its cell holds the link of the row. Default: the first column. */
  isLead?: boolean
  /** As narrow as its content. */
  isTight?: boolean
  /** The value by which the header, a text, sorts a whole list. */
  sortBy?: ((row: Row) => string) | ((row: Row) => number)
}

/** The header of the column that sorts the rows, and whether the largest value is first. */
export type Sorting = { by: string; isDescending: boolean }

export type TableProps<Row> = {
  /** The accessible name. */
  label: string
  columns: ReadonlyArray<Column<Row>>
  /** Undefined while loading: the table then shows skeleton rows. */
  rows: readonly Row[] | undefined
  /** Default: the id of a row. */
  rowKey?(row: Row): string
  /** Returns the buttons of a row, for the last column. */
  actions?: ((row: Row) => ReactNode) | undefined
  /** The target of a row. The lead cell becomes a link, and the whole row is clickable. */
  rowLink?(row: Row): string
  /** Whether a row has just arrived. */
  isFresh?(row: Row): boolean
  /** Default: the order of the rows. */
  sorting?: Sorting | undefined
  /** Whether these are all rows of the list; true by default. Others cannot be sorted here. */
  isWhole?: boolean
}

const skeletonRows = ['a', 'b', 'c', 'd', 'e', 'f']

/** A table. The keyboard shortcuts of the page move the focus between rows that are links. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, rowKey = idOf, rowLink, isFresh, actions, isWhole = true } = props
  const columns = actions ? [...props.columns, actionsColumn(actions)] : props.columns
  const [chosen, setChosen] = useState(props.sorting)
  const sorting = isWhole ? chosen : undefined
  const rows = useMemo(() => sorted(props.rows, props.columns, sorting), [props.rows, props.columns, sorting])
  const lead = columns.find(({ isLead }) => isLead) ?? columns[0]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll a table that is wider than the screen
    <section className={styles.frame} aria-label={label} tabIndex={0}>
      <table className={styles.table} aria-busy={rows === undefined}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col" className={classOf(column)} aria-sort={directionOf(column, sorting)}>
                {column.sortBy && isWhole ? (
                  <SortButton column={column} sorting={sorting} onSort={setChosen} />
                ) : (
                  column.header
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map(row => (
            <tr key={rowKey(row)} className={classNames(rowLink && styles.row, isFresh?.(row) && styles.fresh)}>
              {columns.map((column, index) => (
                <td key={index} className={classOf(column)}>
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
      {rows === undefined && <p className={styles.slow}>Still loading…</p>}
    </section>
  )
}

// Rows without an id have a key.
function idOf(row: unknown): string {
  return (row as { id: string }).id
}

function actionsColumn<Row>(actions: (row: Row) => ReactNode): Column<Row> {
  return {
    header: <span className="visually-hidden">Actions</span>,
    align: 'end',
    cell: row => <div className={styles.actions}>{actions(row)}</div>,
  }
}

type SortButtonProps<Row> = { column: Column<Row>; sorting: Sorting | undefined; onSort(sorting: Sorting): void }

function SortButton<Row>({ column, sorting, onSort }: SortButtonProps<Row>) {
  const direction = directionOf(column, sorting)
  // The largest number first, and the first name.
  const isDescending = direction === undefined ? column.align === 'end' : direction === 'ascending'
  const Icon = direction === 'descending' ? ChevronDown : ChevronUp
  return (
    <button type="button" className={styles.sort} onClick={() => onSort({ by: String(column.header), isDescending })}>
      {column.header}
      <Icon size={13} visibility={direction === undefined ? 'hidden' : 'visible'} />
    </button>
  )
}

function directionOf<Row>(
  { header }: Column<Row>,
  sorting: Sorting | undefined,
): 'ascending' | 'descending' | undefined {
  if (sorting?.by !== header) return undefined
  return sorting?.isDescending ? 'descending' : 'ascending'
}

function sorted<Row>(
  rows: readonly Row[] | undefined,
  columns: ReadonlyArray<Column<Row>>,
  sorting: Sorting | undefined,
): readonly Row[] | undefined {
  const sortKeyOf = columns.find(({ header }) => header === sorting?.by)?.sortBy
  if (!rows || !sorting || !sortKeyOf) return rows
  const direction = sorting.isDescending ? -1 : 1
  return rows.toSorted((a, b) => {
    const [first, second] = [sortKeyOf(a), sortKeyOf(b)]
    if (typeof first === 'string' && typeof second === 'string') return direction * first.localeCompare(second)
    return direction * (Number(first) - Number(second))
  })
}

function SkeletonRows<Row>({ columns }: { columns: ReadonlyArray<Column<Row>> }) {
  return skeletonRows.map(row => (
    <tr key={row}>
      {columns.map((column, index) => (
        <td key={index} className={classOf(column)}>
          <Skeleton />
        </td>
      ))}
    </tr>
  ))
}

export function Skeleton() {
  return <span className={styles.skeleton} aria-hidden="true" />
}

function classOf<Row>({ align, isExtra, isTight }: Column<Row>): string | undefined {
  return classNames(align === 'end' && styles.end, isExtra && styles.extra, isTight && styles.tight) || undefined
}
