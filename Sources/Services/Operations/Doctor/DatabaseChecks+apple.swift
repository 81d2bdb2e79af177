import AppleRecords
import Base
import Postgres
import PurchaseStore

extension DatabaseChecks {
    /// How long ago the proof may end; Apple is asked hour by hour.
    private static let proofTolerance = Duration.seconds(4 * 3600)

    /// Whether everything that Apple lists is held.
    func history() async throws -> Finding.Answer {
        let proofs = try await History(pool).proofs()
        guard !proofs.isEmpty else {
            return .skipped(
                "Apple was never asked whether something is missing: set STOREHOOK_APPLE_KEYS for the workers, which ask, or "
                    + "run storehook reconcile")
        }
        let faults = proofs.compactMap(Self.fault)
        guard faults.isEmpty else { return .failed(faults.joined(separator: "; ")) }
        let texts = proofs.map { proof in
            let place = "\(proof.scope.bundleID) \(proof.scope.environment)"
            if proof.isUnreleased { return "\(place): Apple accepts the key in Sandbox, the app was never released" }
            guard let until = proof.provenUntil, !Self.isInProgress(proof) else {
                return
                    "\(place): \(proof.windows - proof.unprovenWindows) of \(proof.windows) spans of time are compared"
            }
            return "\(place) up to \(Timestamp(until)), \(proof.recovered) recovered"
        }.joined(separator: "; ")
        guard proofs.contains(where: Self.isInProgress) else { return .ok("all that Apple lists is held: \(texts)") }
        return .skipped(
            "in progress, and nothing to do but wait: workers with a key compare what is held with Apple's history, the first time for "
                + "up to an hour: \(texts); storehook reconcile does it at once")
    }

    /// Whether Apple is still being asked, so that nothing can be said of the time until now.
    private static func isInProgress(_ proof: HistoryProof) -> Bool {
        !proof.isUnreleased && (proof.provenUntil == nil || proof.age > proofTolerance)
    }

    private static func fault(_ proof: HistoryProof) -> String? {
        let place = "\(proof.scope.bundleID) \(proof.scope.environment)"
        if proof.refusedWindows > 0 {
            return
                "\(place): Apple's history lists \(proof.refused) that Apple did not sign, in \(proof.refusedWindows) "
                + "windows; see StorehookHistoryUnproven in deploy/runbook.md"
        }
        // The first walk, through all that Apple keeps, takes its time.
        guard !proof.isUnreleased, proof.age > proofTolerance, proof.followedFor > proofTolerance else { return nil }
        return
            "\(place): nothing is proven for the last \(proof.age.age) (\(proof.lastReason ?? "no worker asks Apple")): does a "
            + "worker with the key run? See storehook reconcile"
    }

    /// How long a test notification may take.
    private static let canaryTolerance = Duration.seconds(600)

    /// Whether Apple's test notifications come through.
    func canary() async throws -> Finding.Answer {
        let statuses = try await Canaries(pool).statuses()
        guard !statuses.isEmpty else {
            return .skipped(
                "Apple was never asked for a test notification: STOREHOOK_CANARY_MINUTES has the workers do so, storehook apple "
                    + "test does it once")
        }
        let faults = statuses.compactMap(Self.fault)
        guard faults.isEmpty else { return .failed(faults.joined(separator: "; ")) }
        let texts = statuses.map { status in
            let place = "\(status.scope.bundleID) \(status.scope.environment)"
            guard let askedAt = status.askedAt, let took = status.took else {
                return "\(place): the first is under way"
            }
            return "\(place): the one of \(Timestamp(askedAt)) was applied after \(took.age)"
        }
        return .ok(texts.joined(separator: "; "))
    }

    private static func fault(_ status: CanaryStatus) -> String? {
        let place = "\(status.scope.bundleID) \(status.scope.environment)"
        if let missing = status.missing, missing > canaryTolerance {
            let result = status.postResult.map { ", and Apple says \($0)" } ?? ""
            return
                "\(place): a test notification asked for \(missing.age) ago has not come through\(result); see "
                + "StorehookCanaryMissing in deploy/runbook.md"
        }
        guard let outcome = status.outcome, !["applied", "recovered", "overdue", "dead_letter"].contains(outcome) else {
            return nil
        }
        return "\(place): Apple posts no test notification (\(outcome)): see storehook apple test"
    }

    /// Whether Apple speaks of what is due, or its posts get lost.
    func due() async throws -> Finding.Answer {
        let counts = try await DueEnds(pool).counts()
        guard let due = counts.due, let unheard = counts.unheardAtSixHours else {
            return .skipped("not counted yet: a worker counts every few minutes what is due and not heard of")
        }
        guard counts.isAlarming else { return .ok("Apple speaks of renewals and ends when they are due") }
        return .failed(
            "\(unheard) of \(due) renewals and ends within a day were not heard of six hours later: Apple's posts may not arrive; see "
                + "StorehookDueUnheard in deploy/runbook.md")
    }

    /// How long an extension may be waited for: as the alert StorehookExtensionUnfinished has it.
    private static let extensionTolerance = Duration.seconds(86_400)
    /// Apple works through all subscribers of a product for hours or days.
    private static let massTolerance = Duration.seconds(7 * 86_400)

    /// Whether what Apple was asked to extend was extended.
    func extensions() async throws -> Finding.Answer {
        let open = try await RenewalExtensions(pool).open()
        let late = open.filter { one in
            one.oldestAge
                > (one.kind == "all" && one.state == .accepted ? Self.massTolerance : Self.extensionTolerance)
        }
        guard late.isEmpty else {
            let texts = late.map { one in
                "\(one.scope.bundleID) \(one.scope.environment): \(one.count) \(one.state.rawValue), the oldest for "
                    + "\(one.oldestAge.age)"
            }
            return .failed(
                texts.joined(separator: "; ")
                    + ": storehook extensions list --open, and StorehookExtensionUnfinished in deploy/runbook.md")
        }
        let count = open.reduce(0) { $0 + $1.count }
        return .ok(count == 0 ? "none is under way" : "\(count) under way, none of them overdue")
    }

    /// How much time has to be left: the alert's.
    private static let consumptionTolerance = Duration.seconds(2 * 3600)

    /// Whether Apple's requests for consumption data are answered in time.
    func consumption() async throws -> Finding.Answer {
        let statuses = try await ConsumptionRequests(pool).statuses()
        let faults = statuses.compactMap(Self.fault)
        guard faults.isEmpty else { return .failed(faults.joined(separator: "; ")) }
        let open = statuses.reduce(0) { $0 + $1.open }
        let wanted = statuses.reduce(0) { $0 + $1.wanted }
        return .ok(open == 0 ? "none is open" : "\(open) open, \(wanted) of them to be answered, and in time")
    }

    private static func fault(_ status: ConsumptionStatus) -> String? {
        let place = "\(status.scope.bundleID) \(status.scope.environment)"
        if let left = status.timeLeft, left < consumptionTolerance {
            let time = left > .zero ? "in \(left.age)" : "now"
            return
                "\(place): the deadline of the first of \(status.wanted) to be answered is \(time)"
                + (status.why.map { " (\($0))" } ?? "") + "; see StorehookConsumptionDeadline in deploy/runbook.md"
        }
        let troubles = [
            ("late", status.late), ("refused by Apple", status.refused), ("unknown to have arrived", status.unknown),
        ]
        .filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        guard !troubles.isEmpty else { return nil }
        return "\(place): within a day \(troubles.joined(separator: ", ")): storehook consumption list"
    }
}
