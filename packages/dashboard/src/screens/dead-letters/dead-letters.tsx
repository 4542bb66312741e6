import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function DeadLetters(): ReactNode {
  return <PageHeader title="Dead letters" />
}
