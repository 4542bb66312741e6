import type { Member } from '@belfry/contract'
import type { ReactNode } from 'react'
import styles from './settings.module.css'

/** A person, by name and address. */
export function Who({ user, isYou }: { user: Member['user']; isYou?: boolean }): ReactNode {
  return (
    <div className={styles.who}>
      {user.name}
      {isYou && ' (you)'}
      <span>{user.email}</span>
    </div>
  )
}
