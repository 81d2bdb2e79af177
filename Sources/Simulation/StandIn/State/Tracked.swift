/// A dictionary that knows which of its keys were written since they were last taken.
struct Tracked<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private(set) var all: [Key: Value] = [:]
    private var written: Set<Key> = []
    /// How often something was written.
    private(set) var version = 0

    var count: Int { all.count }
    var keys: Dictionary<Key, Value>.Keys { all.keys }
    var values: Dictionary<Key, Value>.Values { all.values }

    subscript(key: Key) -> Value? {
        get { all[key] }
        set {
            all[key] = newValue
            written.insert(key)
            version += 1
        }
    }

    /// What was written since the last time.
    mutating func takeWritten() -> [Key: Value] {
        // Assigned anew, so that the room for a busy moment is not kept.
        defer { written = [] }
        return Dictionary(uniqueKeysWithValues: written.compactMap { key in all[key].map { (key, $0) } })
    }
}
