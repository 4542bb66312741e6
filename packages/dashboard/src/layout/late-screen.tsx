import { type ComponentType, useCallback, useEffect, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { reloadIfReplaced } from '../ui/late-part.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'

/** Returns a screen in place of one whose script could not be loaded. It loads the script once that is possible. */
export function lateScreen(load: () => Promise<ComponentType>): ComponentType {
  return function LateScreen() {
    const [Screen, setScreen] = useState<ComponentType | null>(null)
    const [isTrying, setIsTrying] = useState(false)
    const retry = useCallback(async () => {
      setIsTrying(true)
      try {
        const loaded = await load()
        setScreen(() => loaded)
      } catch {
        reloadIfReplaced()
      }
      setIsTrying(false)
    }, [])
    useEffect(() => {
      reloadIfReplaced()
      const onOnline = () => void retry()
      window.addEventListener('online', onOnline)
      return () => window.removeEventListener('online', onOnline)
    }, [retry])
    return Screen ? <Screen /> : <NotLoaded isTrying={isTrying} onRetry={() => void retry()} />
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
