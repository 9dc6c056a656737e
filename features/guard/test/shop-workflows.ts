/** Workflows of somebody who knows nothing of TempoClaw. */
import {
  condition,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { ShopActivities } from './shop-worker.ts';

const options = { startToCloseTimeout: '60 seconds', heartbeatTimeout: '2 seconds' } as const;
const { refund, search } = proxyActivities<ShopActivities>(options);
const local = proxyLocalActivities<ShopActivities>({ startToCloseTimeout: '10 seconds' });

export async function refundOrder(order: string, euros: number): Promise<unknown> {
  return refund({ order, euros });
}

export async function refundTwice(order: string, euros: number): Promise<unknown> {
  let isAgain = false;
  setHandler(defineSignal('again'), () => {
    isAgain = true;
  });
  await refund({ order, euros });
  await condition(() => isAgain);
  return refund({ order, euros });
}

export async function searchOrders(text: string): Promise<unknown> {
  return search(text);
}

export async function refundLocally(order: string): Promise<unknown> {
  return local.refund({ order, euros: 1 });
}
