use super::*;
use proptest::prelude::*;

const DAY: i64 = 24 * 60 * 60 * 1000;

#[test]
fn a_day_has_a_number_of_calls() {
    let budget = DailyBudget { agent_calls: 2, ..DailyBudget::default() };
    let (one, allowance) = DailySpending::default().start_call(&budget, Time(0)).unwrap();
    assert_eq!(allowance, AgentAllowance { max_ms: 120 * MS_PER_MINUTE, max_cost_usd: None });
    let (two, _) = one.start_call(&budget, Time(1)).unwrap();
    assert_eq!(two.clone().start_call(&budget, Time(2)), Err(BudgetLimit::Calls));
    assert!(two.start_call(&budget, Time(DAY)).is_ok(), "the next day begins anew");
}

#[test]
fn minutes_and_cost_end_a_day_too() {
    let budget = DailyBudget { cost_usd: Some(1.0), ..DailyBudget::default() };
    let spent = DailySpending::default().finish_call(119 * MS_PER_MINUTE, Some(0.75), Time(0));
    let (spent, allowance) = spent.start_call(&budget, Time(0)).unwrap();
    assert_eq!(allowance, AgentAllowance { max_ms: MS_PER_MINUTE, max_cost_usd: Some(0.25) });
    assert_eq!(spent.describe_remaining(&budget), "19 agent calls, 1 min and 0.25 USD left today");
    let slow = spent.clone().finish_call(MS_PER_MINUTE, None, Time(0));
    assert_eq!(slow.start_call(&budget, Time(0)), Err(BudgetLimit::Minutes));
    let dear = spent.finish_call(1, Some(0.25), Time(0));
    assert_eq!(dear.start_call(&budget, Time(0)), Err(BudgetLimit::Cost));
}

#[test]
fn a_cost_that_is_no_number_counts_as_nothing() {
    let spent = DailySpending::default().finish_call(1, Some(f64::NAN), Time(0));
    assert_eq!(spent.finish_call(1, Some(-5.0), Time(0)).cost_usd, 0.0);
}

#[test]
fn the_rest_of_a_day_is_said_in_words() {
    let left = DailySpending::default().describe_remaining(&DailyBudget::default());
    assert_eq!(left, "20 agent calls and 120 min left today");
}

proptest! {
    #[test]
    fn a_budget_is_never_exceeded(
        calls in 0_u64..6,
        minutes in 0_u64..30,
        cost in 0.0_f64..3.0,
        steps in prop::collection::vec((0_i64..DAY / 4, 0_u64..2_000_000, 0.0_f64..1.5), 0..60),
    ) {
        let budget = DailyBudget { agent_calls: calls, agent_minutes: minutes, cost_usd: Some(cost) };
        let (mut spending, mut now) = (DailySpending::default(), 0);
        for (pause, duration, price) in steps {
            now += pause;
            spending = spending.on_day(Time(now));
            let Ok((started, allowance)) = spending.clone().start_call(&budget, Time(now)) else { continue };
            // The engine ends a call at its allowance.
            let price = price.min(allowance.max_cost_usd.unwrap());
            spending = started.finish_call(duration.min(allowance.max_ms), Some(price), Time(now));
            prop_assert!(spending.agent_calls <= calls);
            prop_assert!(spending.agent_ms <= minutes * MS_PER_MINUTE);
            prop_assert!(spending.cost_usd <= cost + 1e-9);
        }
    }
}
