import type { ReactNode } from 'react'
import styles from './layout.module.css'

/** A list of names and values. Rows without a value are left out. */
export function DefinitionList({ rows }: { rows: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className={styles.list}>
      {Object.entries(rows)
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => [<dt key={`${name}-name`}>{name}</dt>, <dd key={`${name}-value`}>{value}</dd>])}
    </dl>
  )
}
