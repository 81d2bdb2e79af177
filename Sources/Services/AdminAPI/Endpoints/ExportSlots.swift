import APIKit
import Synchronization

/// How much runs at once of what takes the database for minutes, such as exports.
final class ExportSlots: Sendable {
    /// Of one member.
    static let mostOfOne = 2
    /// Of all.
    static let most = 8

    private let mostOfOne: Int
    private let most: Int
    private let running = Mutex<[String: Int]>([:])

    /// Places, by default those of exports.
    init(mostOfOne: Int = ExportSlots.mostOfOne, most: Int = ExportSlots.most) {
        (self.mostOfOne, self.most) = (mostOfOne, most)
    }

    /// A place, held until its last reference goes: also where the answer is never written.
    final class Slot: Sendable {
        private let slots: ExportSlots
        private let member: String

        fileprivate init(_ slots: ExportSlots, _ member: String) {
            self.slots = slots
            self.member = member
        }

        deinit { slots.leave(member) }
    }

    /// A place for something of a member's, by the name that acts record.
    /// - Throws: ``APIProblem``, 503, where all slots are taken.
    func slot(of member: String) throws(APIProblem) -> Slot {
        let isFree = running.withLock { running in
            guard running[member, default: 0] < mostOfOne, running.values.reduce(0, +) < most else {
                return false
            }
            running[member, default: 0] += 1
            return true
        }
        guard isFree else {
            throw APIProblem.unavailable("others of the kind are running: ask again when they are done", retryAfter: 30)
        }
        return Slot(self, member)
    }

    private func leave(_ member: String) {
        running.withLock { running in
            let rest = running[member, default: 1] - 1
            running[member] = rest > 0 ? rest : nil
        }
    }
}
