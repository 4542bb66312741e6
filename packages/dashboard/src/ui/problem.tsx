import { CircleAlert } from 'lucide-react'
import { useEffect, useEffectEvent } from 'react'
import { ApiProblem, messageOf } from '../api/api-problem.ts'
import { Button } from './button.tsx'
import styles from './layout.module.css'

const retryMs = 10_000

/**
 * Shows an error. For server errors it adds the request id, to find it in the log of the service. An error that may pass
 * is retried every 10 seconds.
 */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const mayPass = onRetry !== undefined && error instanceof ApiProblem && (error.status === 0 || error.status >= 500)
  const again = useEffectEvent(() => onRetry?.())
  useEffect(() => {
    if (!mayPass) return
    const timer = setInterval(again, retryMs)
    window.addEventListener('online', again)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', again)
    }
  }, [mayPass])
  // Only another user or another address would help.
  const isFinal = error instanceof ApiProblem && (error.status === 403 || error.status === 404)
  const requestId = error instanceof ApiProblem && error.status >= 500 ? error.body.request_id : undefined
  return (
    <div className={styles.problem} role="alert">
      <CircleAlert size={18} />
      <div>
        <p>
          {messageOf(error)}
          {mayPass && ' Trying again every 10 seconds.'}
        </p>
        {requestId && (
          <p className={styles.faint}>
            Request <code>{requestId}</code>
          </p>
        )}
      </div>
      {onRetry && !isFinal && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export function FormProblem({ problem }: { problem: string | null }) {
  if (!problem) return null
  return (
    <div className={styles.problem} role="alert">
      <CircleAlert size={18} />
      <div>{problem}</div>
    </div>
  )
}
