import { type ReactNode, useId, useState } from 'react'
import { moveAmongChildren } from './arrow-keys.ts'
import styles from './tabs.module.css'

export type Tab = { id: string; label: ReactNode; content: ReactNode }

/** Tabs for views of the same thing. A view that needs its own URL is a page instead. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(tabs[0]?.id)
  const current = tabs.find(({ id }) => id === chosen) ?? tabs[0]
  const id = useId()
  return (
    <div>
      <div role="tablist" className={styles.list} aria-label={label} onKeyDown={moveAmongChildren}>
        {tabs.map(tab => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            className={styles.tab}
            aria-selected={tab === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onFocus={() => setChosen(tab.id)}
            onClick={() => setChosen(tab.id)} // Safari does not focus it
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        key={current?.id}
        role="tabpanel"
        id={`${id}-panel`}
        className={styles.panel}
        aria-labelledby={`${id}-${current?.id}`}
      >
        {current?.content}
      </div>
    </div>
  )
}
