import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiProblem, messageOf } from '../api/api-problem.ts'
import { Button } from './button.tsx'
import styles from './layout.module.css'

/** Shows an error. For server errors it adds the request id, which the log of the service contains. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }): ReactNode {
  const requestId = error instanceof ApiProblem && error.status >= 500 ? error.requestId : undefined
  return (
    <div className={styles.problem} role="alert">
      <CircleAlert size={18} aria-hidden="true" />
      <div>
        <p>{messageOf(error)}</p>
        {requestId && (
          <p className={styles.faint}>
            Request <code>{requestId}</code>
          </p>
        )}
      </div>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Shows the error of a whole form. */
export function FormProblem({ problem }: { problem: string | null }): ReactNode {
  if (!problem) return null
  return (
    <div className={styles.problem} role="alert">
      <CircleAlert size={18} aria-hidden="true" />
      <div>{problem}</div>
    </div>
  )
}
