import { useQuery } from '@tanstack/react-query'
import { type ComponentType, useEffect } from 'react'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { reloadIfReplaced } from '../ui/late-part.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'

/** Returns a screen in place of one whose script could not be loaded. It loads the script once that is possible. */
export function lateScreen(name: string, load: () => Promise<ComponentType>): ComponentType {
  let Screen: ComponentType | null = null
  return function LateScreen() {
    const queryFn = async () => {
      Screen = await load()
      return true
    }
    const script = useQuery({ queryKey: ['script', name], queryFn, enabled: Screen === null })
    useEffect(() => {
      if (script.isError) reloadIfReplaced()
    }, [script.isError])
    return Screen ? <Screen /> : <NotLoaded isTrying={script.isFetching} onRetry={() => void script.refetch()} />
  }
}

function NotLoaded({ isTrying, onRetry }: { isTrying: boolean; onRetry(): void }) {
  const title = 'This page could not be loaded'
  usePageTitle(title)
  return (
    <EmptyState
      isPage
      title={title}
      actions={
        <Button kind="primary" isPending={isTrying} onClick={onRetry}>
          Try again
        </Button>
      }
    >
      Belfry cannot be reached. The page opens when the connection is back.
    </EmptyState>
  )
}
