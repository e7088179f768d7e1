//! A small model of the hub's economy, and chance that thinks of what to do next in it.
//!
//! The model knows balances, and who may do what when. It holds no dates, no reputation and no text: whatever the hub
//! does beyond that must not change a balance.

use capsid_model::{Value, json};
use std::collections::BTreeMap;

/// Milli-credits that a new account and a new node have.
pub const USER_GRANT: i64 = 200_000;
/// Milli-credits that a new node has.
pub const NODE_GRANT: i64 = 500_000;
/// What a validator puts aside.
pub const STAKE: i64 = 100_000;
/// How many accounts and nodes there are.
pub const USERS: usize = 2;
/// Nodes; the last one has the reputation that merging takes.
pub const NODES: usize = 5;

/// Who pays and is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoryActor {
    /// The account of this number.
    User(usize),
    /// The node of this number.
    Node(usize),
}

impl StoryActor {
    /// Its id as the model names it.
    pub fn name(self) -> String {
        match self {
            Self::User(n) => format!("user_{n}"),
            Self::Node(n) => format!("node_{n}"),
        }
    }
}

/// The account that owns a node. Nobody owns the last one, so that it may merge whatever others offered.
pub fn owner(node: usize) -> Option<usize> {
    (node != LAST).then_some(node % USERS)
}

/// The node that may merge.
const LAST: usize = NODES - 1;

/// Whether a node would do what it, its owner or another node of its owner offered.
fn is_own(node: usize, creator: StoryActor) -> bool {
    match creator {
        StoryActor::User(user) => owner(node) == Some(user),
        StoryActor::Node(other) => node == other || (owner(node).is_some() && owner(node) == owner(other)),
    }
}

/// Which task of a bounty: the complete one, a part, or the merge of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoryTask {
    Whole,
    Part(usize),
    Merge,
}

/// Something that somebody does.
#[derive(Debug, Clone, PartialEq)]
pub enum StoryCommand {
    /// Offers a bounty of so many milli-credits.
    Offer(StoryActor, i64),
    Claim(usize, usize, StoryTask),
    Release(usize, usize, StoryTask),
    Complete(usize, usize, StoryTask),
    /// Cuts it into parts of these weights, in thousandths.
    Propose(usize, usize, Vec<i64>),
    /// Accepts what was handed in.
    Accept(usize),
    Reject(usize),
    Cancel(usize),
    /// Moves credits from an account to its node.
    Fund(usize, usize, i64),
    /// Puts the validator's stake aside.
    Stake(usize),
    Unstake(usize),
}

/// The status of a task or a bounty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoryState {
    Open,
    Claimed,
    Done,
}

#[derive(Debug, Clone)]
struct StoryJob {
    state: StoryState,
    by: Option<usize>,
}

const OPEN: StoryJob = StoryJob { state: StoryState::Open, by: None };

#[derive(Debug, Clone)]
struct StoryBounty {
    creator: StoryActor,
    amount: i64,
    job: StoryJob,
    weights: Vec<i64>,
    parts: Vec<StoryJob>,
    merge: Option<StoryJob>,
    /// It was paid or refunded.
    over: bool,
    gone: bool,
}

/// The model.
#[derive(Debug, Clone)]
pub struct EconomyModel {
    balances: BTreeMap<StoryActor, i64>,
    staked: [bool; NODES],
    bounties: Vec<StoryBounty>,
}

impl Default for EconomyModel {
    fn default() -> Self {
        let users = (0..USERS).map(|n| (StoryActor::User(n), USER_GRANT));
        let nodes = (0..NODES).map(|n| (StoryActor::Node(n), NODE_GRANT));
        Self { balances: users.chain(nodes).collect(), staked: [false; NODES], bounties: Vec::new() }
    }
}

impl EconomyModel {
    /// What everybody holds.
    pub fn balances(&self) -> &BTreeMap<StoryActor, i64> {
        &self.balances
    }

    /// What is held in escrow for bounties and stakes.
    pub fn held(&self) -> i64 {
        let bounties: i64 = self.bounties.iter().filter(|b| !b.over).map(|b| b.amount).sum();
        bounties + self.staked.iter().filter(|staked| **staked).count() as i64 * STAKE
    }

    /// How many bounties there are.
    pub fn bounties(&self) -> usize {
        self.bounties.len()
    }

    /// Who offered a bounty.
    pub fn creator(&self, bounty: usize) -> StoryActor {
        self.bounties[bounty].creator
    }

    /// Does something if it is allowed, and returns whether it was.
    pub fn apply(&mut self, command: &StoryCommand) -> bool {
        match command {
            StoryCommand::Offer(who, amount) => self.offer(*who, *amount),
            StoryCommand::Fund(user, node, amount) => self.fund(*user, *node, *amount),
            StoryCommand::Stake(node) => self.stake(*node),
            StoryCommand::Unstake(node) => self.unstake(*node),
            StoryCommand::Claim(node, bounty, piece) => self.claim(*node, *bounty, *piece),
            StoryCommand::Release(node, bounty, piece) => self.release(*node, *bounty, *piece),
            StoryCommand::Complete(node, bounty, piece) => self.complete(*node, *bounty, *piece),
            StoryCommand::Propose(node, bounty, weights) => self.propose(*node, *bounty, weights),
            StoryCommand::Accept(bounty) => self.accept(*bounty),
            StoryCommand::Reject(bounty) => self.reject(*bounty),
            StoryCommand::Cancel(bounty) => self.cancel(*bounty),
        }
    }

    fn move_by(&mut self, who: StoryActor, amount: i64) {
        *self.balances.get_mut(&who).unwrap() += amount;
    }

    fn fund(&mut self, user: usize, node: usize, amount: i64) -> bool {
        let can = owner(node) == Some(user) && self.balances[&StoryActor::User(user)] >= amount;
        if can {
            self.move_by(StoryActor::User(user), -amount);
            self.move_by(StoryActor::Node(node), amount);
        }
        can
    }

    fn offer(&mut self, creator: StoryActor, amount: i64) -> bool {
        let can = self.balances[&creator] >= amount;
        if can {
            self.move_by(creator, -amount);
            let (weights, parts) = (Vec::new(), Vec::new());
            self.bounties.push(StoryBounty {
                creator,
                amount,
                job: OPEN,
                weights,
                parts,
                merge: None,
                over: false,
                gone: false,
            });
        }
        can
    }

    /// Putting aside again, and taking back what is not there, changes nothing and is no error.
    fn stake(&mut self, node: usize) -> bool {
        let can = self.staked[node] || self.balances[&StoryActor::Node(node)] >= STAKE;
        if can && !self.staked[node] {
            self.staked[node] = true;
            self.move_by(StoryActor::Node(node), -STAKE);
        }
        can
    }

    fn unstake(&mut self, node: usize) -> bool {
        if std::mem::take(&mut self.staked[node]) {
            self.move_by(StoryActor::Node(node), STAKE);
        }
        true
    }

    fn job(&mut self, bounty: usize, piece: StoryTask) -> Option<&mut StoryJob> {
        let bounty = self.bounties.get_mut(bounty)?;
        match piece {
            StoryTask::Whole => Some(&mut bounty.job),
            StoryTask::Part(n) => bounty.parts.get_mut(n),
            StoryTask::Merge => bounty.merge.as_mut(),
        }
    }

    fn claim(&mut self, node: usize, bounty: usize, piece: StoryTask) -> bool {
        let over = self.bounties.get(bounty).is_none_or(|b| b.over);
        // Only the last node may merge, and nobody works on their own bounty.
        let own = self.bounties.get(bounty).is_none_or(|b| is_own(node, b.creator));
        let may = (piece != StoryTask::Merge || node == LAST) && !own;
        let Some(job) = self.job(bounty, piece).filter(|_| !over) else { return false };
        match (job.state, job.by) {
            (StoryState::Open, _) if may => *job = StoryJob { state: StoryState::Claimed, by: Some(node) },
            (StoryState::Claimed, Some(by)) if by == node => {}
            _ => return false,
        }
        true
    }

    fn release(&mut self, node: usize, bounty: usize, piece: StoryTask) -> bool {
        let Some(of) = self.bounties.get_mut(bounty) else { return false };
        let job = StoryJob { state: StoryState::Claimed, by: Some(node) };
        let can = piece == StoryTask::Whole
            && of.weights.is_empty()
            && !of.over
            && (of.job.state, of.job.by) == (job.state, job.by);
        if can {
            of.job = OPEN;
        }
        can
    }

    fn complete(&mut self, node: usize, bounty: usize, piece: StoryTask) -> bool {
        let cut = self.bounties.get(bounty).is_some_and(|b| !b.weights.is_empty());
        let gone = self.bounties.get(bounty).is_some_and(|b| b.gone);
        let Some(job) = self.job(bounty, piece) else { return false };
        if job.by != Some(node) {
            return false;
        }
        if job.state == StoryState::Done {
            return true;
        }
        if gone || job.state != StoryState::Claimed || (piece == StoryTask::Whole && cut) {
            return false;
        }
        job.state = StoryState::Done;
        let of = &mut self.bounties[bounty];
        if piece == StoryTask::Merge {
            of.job.state = StoryState::Done;
        }
        if cut && of.merge.is_none() && of.parts.iter().all(|part| part.state == StoryState::Done) {
            of.merge = Some(OPEN);
        }
        true
    }

    fn propose(&mut self, node: usize, bounty: usize, weights: &[i64]) -> bool {
        let Some(of) = self.bounties.get_mut(bounty) else { return false };
        let claimed = of.job.state == StoryState::Claimed && of.job.by == Some(node);
        let can = claimed && of.weights.is_empty() && !of.over;
        if can {
            of.weights = weights.to_vec();
            of.parts = vec![OPEN; weights.len()];
        }
        can
    }

    fn accept(&mut self, bounty: usize) -> bool {
        let Some(of) = self.bounties.get(bounty).cloned() else { return false };
        if of.job.state != StoryState::Done || of.gone {
            return false;
        }
        if of.over {
            return true;
        }
        self.bounties[bounty].over = true;
        let mut left = of.amount;
        let mut pay = |model: &mut Self, job: &StoryJob, amount: i64| {
            model.move_by(StoryActor::Node(job.by.unwrap()), amount);
            left -= amount;
        };
        if of.weights.is_empty() {
            pay(self, &of.job, of.amount);
            return true;
        }
        let total: i64 = of.weights.iter().sum();
        pay(self, &of.job, of.amount * 5 / 100);
        for (part, weight) in of.parts.iter().zip(&of.weights) {
            pay(self, part, of.amount * 85 * weight / (100 * total));
        }
        let last = left;
        self.move_by(StoryActor::Node(of.merge.unwrap().by.unwrap()), last);
        true
    }

    fn reject(&mut self, bounty: usize) -> bool {
        let Some(of) = self.bounties.get_mut(bounty).filter(|b| !b.over && b.job.state == StoryState::Done)
        else {
            return false;
        };
        match &mut of.merge {
            Some(merge) => {
                *merge = OPEN;
                of.job.state = StoryState::Claimed;
            }
            None => of.job = OPEN,
        }
        true
    }

    fn cancel(&mut self, bounty: usize) -> bool {
        let Some(of) = self.bounties.get_mut(bounty) else { return false };
        let (creator, amount) = (of.creator, of.amount);
        if of.job.state != StoryState::Open || of.gone {
            return false;
        }
        // Taking it back again changes nothing and is no error.
        if !std::mem::replace(&mut of.over, true) {
            self.move_by(creator, amount);
        }
        true
    }

    /// So much time passes that nothing is left waiting: whatever was not paid goes back.
    pub fn wait_long(&mut self) {
        for at in 0..self.bounties.len() {
            let StoryBounty { creator, amount, .. } = self.bounties[at];
            if !std::mem::replace(&mut self.bounties[at].over, true) {
                self.move_by(creator, amount);
                // What is over for want of time can be neither claimed nor accepted.
                self.bounties[at].gone = true;
            }
        }
    }

    /// Everything that can still be done for a bounty to come to its end, one step of it.
    pub fn next_step(&self, bounty: usize) -> Option<StoryCommand> {
        let of = &self.bounties[bounty];
        if of.over {
            return None;
        }
        let mut nodes = (0..NODES).map(|n| (bounty + n) % NODES);
        let node = nodes.find(|node| !is_own(*node, of.creator))?;
        let work = |job: &StoryJob, piece, node| match job.state {
            StoryState::Open => Some(StoryCommand::Claim(node, bounty, piece)),
            StoryState::Claimed => Some(StoryCommand::Complete(job.by.unwrap(), bounty, piece)),
            StoryState::Done => None,
        };
        if of.weights.is_empty() {
            return Some(work(&of.job, StoryTask::Whole, node).unwrap_or(StoryCommand::Accept(bounty)));
        }
        let part = of.parts.iter().enumerate().find_map(|(n, part)| work(part, StoryTask::Part(n), node));
        let merge = of.merge.as_ref().and_then(|merge| work(merge, StoryTask::Merge, LAST));
        Some(part.or(merge).unwrap_or(StoryCommand::Accept(bounty)))
    }

    /// Something to do next: often what somebody would do, sometimes anything.
    pub fn think(&self, chance: &mut fastrand::Rng) -> StoryCommand {
        let amount = |chance: &mut fastrand::Rng| match chance.u8(..8) {
            0 => 0,
            1 => chance.i64(1..10),
            2 => chance.i64(400_000..900_000),
            _ => chance.i64(1..60_000),
        };
        let node = chance.usize(..NODES);
        if self.bounties.is_empty() || chance.u8(..10) == 0 {
            let who =
                if chance.bool() { StoryActor::User(chance.usize(..USERS)) } else { StoryActor::Node(node) };
            return StoryCommand::Offer(who, amount(chance));
        }
        // Mostly the newest, so that much comes to its end.
        let newest = self.bounties.len().saturating_sub(6);
        let bounty = if chance.u8(..5) == 0 {
            chance.usize(..self.bounties.len())
        } else {
            chance.usize(newest..self.bounties.len())
        };
        let parts = self.bounties[bounty].parts.len();
        let piece = match chance.u8(..4) {
            0 => StoryTask::Whole,
            1 => StoryTask::Merge,
            _ if parts > 0 => StoryTask::Part(chance.usize(..parts)),
            _ => StoryTask::Whole,
        };
        match chance.u8(..24) {
            0 => StoryCommand::Fund(chance.usize(..USERS), node, amount(chance).max(1)),
            1 => StoryCommand::Stake(node),
            2 => StoryCommand::Unstake(node),
            3 => StoryCommand::Cancel(bounty),
            4 => StoryCommand::Release(node, bounty, piece),
            // What the last node offered nobody could merge.
            5 | 6 if self.bounties[bounty].creator != StoryActor::Node(LAST) => StoryCommand::Propose(
                self.bounties[bounty].job.by.filter(|_| chance.u8(..4) > 0).unwrap_or(node),
                bounty,
                (0..chance.usize(2..5)).map(|_| chance.i64(1..210)).collect(),
            ),
            7 => StoryCommand::Reject(bounty),
            8 => StoryCommand::Accept(bounty),
            9 => StoryCommand::Claim(node, bounty, piece),
            10 => StoryCommand::Complete(node, bounty, piece),
            _ => self.next_step(bounty).unwrap_or(StoryCommand::Claim(node, bounty, piece)),
        }
    }
}

/// What the driver knows of those who act: tokens, secrets, and an asset that each node published.
#[derive(Debug, Clone, Default)]
pub struct StoryActors {
    /// Session tokens of the accounts.
    pub tokens: Vec<String>,
    pub secrets: Vec<String>,
    /// A capsule of each node.
    pub capsules: Vec<String>,
    /// What the hub calls each bounty, and its task.
    pub ids: Vec<(String, String)>,
}

/// A request: path, bearer and body. All of them are sent with POST.
#[derive(Debug, Clone)]
pub struct StoryRequest {
    pub path: String,
    pub bearer: String,
    pub body: Value,
}

impl StoryActors {
    /// A command as a request. `number` is the number of the command, which makes its reference; the same command with
    /// the same number may be sent as often as one likes.
    pub fn request(&self, model: &EconomyModel, command: &StoryCommand, number: usize) -> StoryRequest {
        let credits = |milli: i64| milli as f64 / 1000.0;
        let reference = format!("command-{number}");
        let node = |n: usize| StoryActor::Node(n).name();
        let of_node = |n: usize, path: &str, body: Value| StoryRequest {
            path: path.to_owned(),
            bearer: self.secrets[n].clone(),
            body,
        };
        let of_creator = |bounty: usize, what: &str| StoryRequest {
            path: format!("/bounty/{}/{what}", self.ids[bounty].0),
            bearer: match model.creator(bounty) {
                StoryActor::User(n) => self.tokens[n].clone(),
                StoryActor::Node(n) => self.secrets[n].clone(),
            },
            body: match model.creator(bounty) {
                StoryActor::User(_) => json!({}),
                StoryActor::Node(n) => json!({"sender_id": node(n)}),
            },
        };
        let task = |bounty: usize, piece: &StoryTask| match piece {
            StoryTask::Whole => self.ids[bounty].1.clone(),
            StoryTask::Part(n) => format!("{}_s{}", self.ids[bounty].1, n + 1),
            StoryTask::Merge => format!("{}_merge", self.ids[bounty].1),
        };
        match command {
            StoryCommand::Offer(StoryActor::User(n), amount) => StoryRequest {
                path: "/bounty/create".to_owned(),
                bearer: self.tokens[*n].clone(),
                body: json!({"title": "Something to do", "signals": "trial", "amount": credits(*amount),
                    "reference": reference}),
            },
            StoryCommand::Offer(StoryActor::Node(n), amount) => of_node(
                *n,
                "/a2a/ask",
                json!({"sender_id": node(*n),
                "question": "What is to be done?", "amount": credits(*amount), "reference": reference}),
            ),
            StoryCommand::Fund(user, to, amount) => StoryRequest {
                path: "/account/transfer".to_owned(),
                bearer: self.tokens[*user].clone(),
                body: json!({"from": "user", "to": node(*to), "amount": credits(*amount), "reference": reference}),
            },
            StoryCommand::Stake(n) => of_node(*n, "/a2a/validator/stake", json!({"sender_id": node(*n)})),
            StoryCommand::Unstake(n) => of_node(*n, "/a2a/validator/unstake", json!({"sender_id": node(*n)})),
            StoryCommand::Claim(n, bounty, piece) => {
                of_node(*n, "/task/claim", json!({"task_id": task(*bounty, piece), "node_id": node(*n)}))
            }
            StoryCommand::Release(n, bounty, piece) => {
                of_node(*n, "/task/release", json!({"task_id": task(*bounty, piece), "node_id": node(*n)}))
            }
            StoryCommand::Complete(n, bounty, piece) => of_node(
                *n,
                "/task/complete",
                json!({
                "task_id": task(*bounty, piece), "node_id": node(*n), "asset_id": self.capsules[*n]}),
            ),
            StoryCommand::Propose(n, bounty, weights) => {
                let parts: Vec<Value> = weights
                    .iter()
                    .map(|weight| json!({"title": "A part of it", "weight": *weight as f64 / 1000.0}))
                    .collect();
                let body = json!({"task_id": task(*bounty, &StoryTask::Whole), "node_id": node(*n), "subtasks": parts});
                of_node(*n, "/task/propose-decomposition", body)
            }
            StoryCommand::Accept(bounty) => of_creator(*bounty, "accept"),
            StoryCommand::Reject(bounty) => of_creator(*bounty, "reject"),
            StoryCommand::Cancel(bounty) => of_creator(*bounty, "cancel"),
        }
    }

    /// Takes note of an answer: a bounty that was offered has ids from then on.
    pub fn answered(&mut self, command: &StoryCommand, body: &Value) {
        if matches!(command, StoryCommand::Offer(..)) {
            let text = |key: &str| body[key].as_str().unwrap().to_owned();
            self.ids.push((text("bounty_id"), text("task_id")));
        }
    }
}

/// Whether a refusal of a command that was sent before, and may have been done then, means that it was done. The model
/// says that it can be done; a command that cannot be repeated is refused the second time.
pub fn means_done_before(command: &StoryCommand, status: u16, body: &Value) -> bool {
    let code = body["error"].as_str().unwrap_or_default();
    match command {
        StoryCommand::Release(..) => status == 409 && code == "task_not_claimed",
        StoryCommand::Propose(..) => status == 409 && code == "already_decomposed",
        StoryCommand::Reject(..) => status == 409 && code == "bounty_state",
        _ => false,
    }
}
