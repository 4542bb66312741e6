import type { Action } from '@belfry/domain/permissions'
import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyState } from '../ui/empty-state.tsx'
import { useRefusal } from './scope.ts'

/** Passes its children why the user may not perform an action, or null. Without an action there is no reason. */
export function Refusal({ of, children }: { of: Action | undefined; children: Decided }) {
  return of ? <Refused of={of}>{children}</Refused> : children(null)
}

type Decided = (refusal: string | null) => ReactNode

function Refused({ of, children }: { of: Action; children: Decided }) {
  return children(useRefusal(of))
}

type PageForProps = {
  right: Action
  /** Whether the children contain the header of the page. */
  isWhole?: boolean
  children: ReactNode
}

/** Renders a page for users with a right. Others see why they lack it. */
export function PageFor({ right, isWhole, children }: PageForProps) {
  const refusal = useRefusal(right)
  if (refusal === null) return children
  return (
    <EmptyState isPage={isWhole} icon={Lock} title="You do not have access to this page">
      {refusal}
    </EmptyState>
  )
}
