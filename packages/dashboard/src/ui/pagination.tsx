import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import styles from './layout.module.css'

type LoadMoreProps = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown }

/** The end of a list that goes on; takes what `useInfiniteQuery` gives. */
export function LoadMore({ hasNextPage, isFetchingNextPage, fetchNextPage }: LoadMoreProps): ReactNode {
  if (!hasNextPage) return null
  return (
    <div className={styles.pager}>
      <Button isPending={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {isFetchingNextPage ? 'Loading…' : 'Load more'}
      </Button>
    </div>
  )
}

type PagerProps = { onPrevious: (() => void) | null; onNext: (() => void) | null }

/** Page by page, where rows below would be too many to keep. */
export function Pager({ onPrevious, onNext }: PagerProps): ReactNode {
  if (!onPrevious && !onNext) return null
  return (
    <nav className={styles.pager} aria-label="Pages">
      <Button refusal={onPrevious ? null : 'This is the first page.'} onClick={() => onPrevious?.()}>
        Previous
      </Button>
      <Button refusal={onNext ? null : 'This is the last page.'} onClick={() => onNext?.()}>
        Next
      </Button>
    </nav>
  )
}
