/** What evals are written with, on top of node:test: `import { agent, evaluate, fails, judge } from 'tempoclaw/eval'`. */
export {
  agent,
  type EvalAgent,
  type EvalCall,
  type EvalOptions,
  type EvalRun,
  type EvalSession,
} from './agent.ts';
export { evaluate, type EvaluateOptions } from './evaluate.ts';
export { judge, type Judgement, type JudgeOptions } from './judge.ts';
export { fails, recorded, scripted, type ToolAnswer, type ToolScript } from './tool-script.ts';
