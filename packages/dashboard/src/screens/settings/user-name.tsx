import type { Member } from '@belfry/contract/member'
import type { ReactNode } from 'react'
import styles from './settings.module.css'

/** A user, by name and email address. */
export function UserName({ user, isYou }: { user: Member['user']; isYou?: boolean }): ReactNode {
  return (
    <div className={styles.twoLines}>
      {user.name}
      {isYou && ' (you)'}
      <span>{user.email}</span>
    </div>
  )
}
