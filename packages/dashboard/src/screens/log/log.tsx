import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Log(): ReactNode {
  return <PageHeader title="Activity log" />
}
