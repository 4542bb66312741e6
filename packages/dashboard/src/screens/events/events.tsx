import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Events(): ReactNode {
  return <PageHeader title="Events" />
}
