import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import styles from './tabs.module.css'

export type Tab = { id: string; label: ReactNode; content: ReactNode }

/** Tabs for views of the same thing. A view that needs its own URL is a page instead. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): ReactNode {
  return (
    <Radix.Root defaultValue={tabs[0]?.id ?? ''}>
      <Radix.List className={styles.list} aria-label={label}>
        {tabs.map(tab => (
          <Radix.Trigger key={tab.id} value={tab.id} className={styles.tab}>
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(tab => (
        <Radix.Content key={tab.id} value={tab.id} className={styles.panel}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
