import {
  keepPreviousData,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { AnswerOf, PathOf } from './answers.js'
import { api, type CallOptions } from './client.js'
import type { ApiProblem } from './problem.js'

interface ReadOptions extends Omit<CallOptions, 'body' | 'signal'> {
  readonly enabled?: boolean
  /** Shows the earlier answer while another one is loaded, so that nothing jumps. */
  readonly keepPrevious?: boolean
  /** Milliseconds. Only for what no event announces. */
  readonly refetchInterval?: number
}

/**
 * Reads an endpoint into the cache. Events of the server refresh it by its key (`live/invalidate.ts`). Without a type
 * argument, the answer has the type that the OpenAPI document gives it.
 */
export function useRead<P extends PathOf<'get'>>(
  key: readonly unknown[],
  path: P,
  options?: ReadOptions,
): UseQueryResult<AnswerOf<P, 'get'>, ApiProblem>
export function useRead<T>(key: readonly unknown[], path: string, options?: ReadOptions): UseQueryResult<T, ApiProblem>
export function useRead<T>(
  key: readonly unknown[],
  path: string,
  options: ReadOptions = {},
): UseQueryResult<T, ApiProblem> {
  return useQuery<T, ApiProblem>({
    queryKey: key,
    queryFn: ({ signal }) => api.get<T>(path, { ...options, signal }),
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchInterval ?? false,
    ...(options.keepPrevious === true ? { placeholderData: keepPreviousData } : {}),
  })
}

/** Changes something, then refreshes what the change may have touched. Sensitive calls go through `confirmAct` inside `act`. */
export function useAct<Input, Output>(
  act: (input: Input) => Promise<Output>,
  refresh: readonly (readonly unknown[])[] = [],
): UseMutationResult<Output, ApiProblem, Input> {
  const client = useQueryClient()
  return useMutation<Output, ApiProblem, Input>({
    mutationFn: act,
    onSettled: () => Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey }))),
  })
}
