import APIKit
import Synchronization

/// How many exports run at once: each reads the database for minutes.
final class ExportSlots: Sendable {
    /// Of one member.
    static let mostOfOne = 2
    /// Of all.
    static let most = 8

    private let running = Mutex<[Int64: Int]>([:])

    /// A place, held until its last reference goes: also where the answer is never written.
    final class Slot: Sendable {
        private let slots: ExportSlots
        private let member: Int64

        fileprivate init(_ slots: ExportSlots, _ member: Int64) {
            self.slots = slots
            self.member = member
        }

        deinit { slots.leave(member) }
    }

    /// A place for an export of a member's.
    /// - Throws: ``APIProblem``, 503, where all slots are taken.
    func slot(of member: Int64) throws(APIProblem) -> Slot {
        let isFree = running.withLock { running in
            guard running[member, default: 0] < Self.mostOfOne, running.values.reduce(0, +) < Self.most else {
                return false
            }
            running[member, default: 0] += 1
            return true
        }
        guard isFree else {
            throw APIProblem.unavailable("other exports are running: ask again when they are done", retryAfter: 30)
        }
        return Slot(self, member)
    }

    private func leave(_ member: Int64) {
        running.withLock { running in
            let rest = running[member, default: 1] - 1
            running[member] = rest > 0 ? rest : nil
        }
    }
}
