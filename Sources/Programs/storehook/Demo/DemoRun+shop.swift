import AccountStore
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import AppleSync
import Base
import EvidenceStore
import FigureStore
import Figures
import Foundation
import Operations
import OrderStore
import Pipeline
import Postgres
import PurchaseStore
import Simulation

extension DemoRun {
    /// Compares what is stored with the stand-in's notification history, as `storehook reconcile` does, until nothing
    /// is missing. Meanwhile no post is lost; otherwise this would never end.
    /// - Returns: whether nothing is missing any more.
    func recover(
        _ pool: PostgresPool, _ settings: Settings, _ access: AppleAccess, _ shop: DemoShop, since began: Timestamp
    ) async throws -> Bool {
        step("Holding what is stored against Apple's notification history, as storehook reconcile does")
        let clients = access.clients()
        let scopes = clients.scopes.filter { $0.bundleID == SimulatedApp.example.bundleId }
        let reconciliation = Reconciliation(History(pool), clients, of: scopes, owner: Operator.name)
        let loss = try await shop.setLoss(0)
        do {
            let since = PostgresTimestamp(began)
            let missing = try await reconciliation.check(since: since) { _ in }.reduce(0) { $0 + $1.missingCount }
            detail("\(missing) that Apple lists were missing here")
            var checks: [HistoryCheck] = []
            let end = ContinuousClock.now + .seconds(patience)
            repeat {
                _ = try await reconciliation.run(since: nil) { _, _ in }
                // Fetched notifications pass through the queue like posted ones.
                _ = try await settled(Outbox(pool), progress: false)
                checks = try await reconciliation.check(since: since) { _ in }
            } while !checks.allSatisfy(\.isComplete) && ContinuousClock.now < end
            for line in CommandAnswer(checks).text.split(separator: "\n") { detail(String(line)) }
            try await shop.setLoss(loss)
            return checks.allSatisfy(\.isComplete)
        } catch {
            _ = try? await shop.setLoss(loss)
            throw error
        }
    }

    /// Shows the customer's order and what was refunded of it, once a worker has dealt it a number.
    /// - Returns: whether there is such an order, with a refund.
    func showOrder(of original: String, _ pool: PostgresPool) async throws -> Bool {
        step("The customer's order and refund, as storehook orders show")
        let catalog = try await AccountStore(pool).current()?.catalog
        let end = ContinuousClock.now + .seconds(patience)
        while true {
            let shown = try await OrderStore(pool).show(original, under: catalog)
            if let order = shown.first, order.number != nil || ContinuousClock.now > end {
                let answer = CommandAnswer(order, isOpen: false)
                for line in answer.text.split(separator: "\n") { detail(String(line)) }
                guard case .order(let order) = order else { return false }
                return order.lines.contains { $0.type == "refund" }
            }
            guard ContinuousClock.now < end else {
                detail("no order of \(original) is booked")
                return false
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Shows what the shop took day by day, once a worker has summed it.
    /// - Returns: whether there are such figures, up to date.
    func showFigures(_ pool: PostgresPool) async throws -> Bool {
        step("The shop's days in figures, as storehook figures net --by day --environment Sandbox")
        let today = CalendarDay(number: WallClock.now().millisecondsSince1970 / 86_400_000)
        // The shop's customers live in weeks of seconds, so that their next days lie ahead.
        let days = CalendarDay(number: today.number - 30)...CalendarDay(number: today.number + 30)
        let end = ContinuousClock.now + .seconds(patience)
        while true {
            var answer = try await FigureStore(pool).answer(
                FigureQuestion(.net, days, by: .day, environment: Environment.sandbox.rawValue))
            let isUpToDate = answer.zone != nil && !answer.standings.values.contains(where: \.isPending)
            if isUpToDate && !answer.cells.isEmpty || ContinuousClock.now > end {
                answer.cells = Array(answer.cells.suffix(7))
                for line in CommandAnswer(answer).text.split(separator: "\n") { detail(String(line)) }
                return isUpToDate && !answer.cells.isEmpty
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// What to type in another terminal.
    func hint(_ original: String, since began: Timestamp) {
        let program = Self.quoted(CommandLine.arguments.first ?? "storehook")
        let config = shared.config.map { " --config \(Self.quoted($0))" } ?? ""
        step("Look for yourself, in another terminal; the shop goes on living, and loses a post now and then")
        detail("the queue, which the shop keeps busy:")
        detail("  \(program) queue\(config)")
        detail("the customer: a purchase whose post was lost and fetched, a renewal, a refund:")
        detail("  \(program) subscription \(original)\(config)")
        detail("a whole life in ten seconds, from a trial to a refund, beside the events and what an app is answered:")
        detail("  \(program) demo life\(config)")
        detail("what Apple lists, what of it was recovered, and what got lost since (without --check it is fetched):")
        detail("  \(program) reconcile --check --since \(began)\(config)")
    }

    /// As a shell takes it.
    private static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "/._-+:@%".utf8.contains(byte)
        }
        return plain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
