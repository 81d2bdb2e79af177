/// Values by key, never more than so many: where there is no room, those that were not asked for lately go first.
///
/// Two halves: the young one takes what is new or asked for again; when it is full it becomes the old one, and what was in that is
/// forgotten. So nothing is ever searched for what to drop.
package struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    /// An empty table of at most so many.
    package init(most: Int) { half = max(1, most / 2) }

    /// How many there are.
    var count: Int { young.count + old.count }

    /// What stands there; asking keeps it.
    package mutating func value(of key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old.removeValue(forKey: key) else { return nil }
        put(value, for: key)
        return value
    }

    /// Puts it there.
    package mutating func put(_ value: Value, for key: Key) {
        if young.count >= half, young[key] == nil {
            old = young
            young = [:]
        }
        old[key] = nil
        young[key] = value
    }

    /// Forgets it.
    package mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }

    /// Forgets all.
    package mutating func removeAll() {
        young = [:]
        old = [:]
    }
}
