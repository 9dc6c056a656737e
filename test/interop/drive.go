// Calls functions of the contract's Go package: one JSON line in, one JSON line out, until the input ends.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

var functions = map[string]any{
	"submit": submit, "steer": steer, "send_message": sendMessage, "stop": stop, "stop_idle": stopIdle,
	"state": state, "outcome": outcome, "decide": decide, "decide_by_signal": decideBySignal,
	"escalate": escalate, "withdraw": withdraw, "approval_state": approvalState, "decision_token": decisionToken,
	"stop_subagent": stopSubagent, "steer_subagent": steerSubagent, "subagent_state": subagentState,
	"act_on_task": actOnTask, "task_state": taskState, "stop_delegation": stopDelegation,
	"delegation_state": delegationState, "stop_evaluation": stopEvaluation, "evaluation_state": evaluationState,
	"cancel_wait": cancelWait,
}

type request struct {
	Call string
	Args []json.RawMessage
}

func answer(c client.Client, line []byte) (any, error) {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	function := reflect.ValueOf(functions[asked.Call])
	shape := function.Type()
	var args []reflect.Value
	if shape.In(0) == reflect.TypeFor[context.Context]() {
		args = []reflect.Value{reflect.ValueOf(context.Background()), reflect.ValueOf(c)}
	}
	for _, text := range asked.Args {
		value := reflect.New(shape.In(len(args)))
		if err := json.Unmarshal(text, value.Interface()); err != nil {
			return nil, err
		}
		args = append(args, value.Elem())
	}
	results := function.Call(args)
	err, _ := results[len(results)-1].Interface().(error)
	if len(results) == 1 {
		return nil, err
	}
	return results[0].Interface(), err
}

func problem(err error) map[string]any {
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		return map[string]any{"type": refused.Type(), "message": refused.Message()}
	}
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return map[string]any{"type": "NOT_FOUND", "message": err.Error()}
	}
	return map[string]any{"type": fmt.Sprintf("%T", err), "message": err.Error()}
}

func main() {
	// The SDK's log is not for the reader of the answers.
	answers := os.Stdout
	os.Stdout = os.Stderr
	c, err := connect(os.Args[1], "default")
	if err != nil {
		panic(err)
	}
	defer c.Close()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		reply := map[string]any{}
		if result, err := answer(c, lines.Bytes()); err != nil {
			reply = problem(err)
		} else {
			reply["ok"] = result
		}
		text, _ := json.Marshal(reply)
		fmt.Fprintln(answers, string(text))
	}
}
