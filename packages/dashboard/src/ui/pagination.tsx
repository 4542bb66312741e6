import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import styles from './layout.module.css'

export type LoadMoreProps = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown }

/** A button that loads the next page. Takes the result of `useInfiniteQuery`. */
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
