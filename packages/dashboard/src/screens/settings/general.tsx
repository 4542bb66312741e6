import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function General(): ReactNode {
  return <PageHeader title="General" />
}
