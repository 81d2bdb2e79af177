public import AppStorePayloads

/// Which notifications Apple is to list. Apple takes one filter at a time.
public enum NotificationFilter: Sendable, Hashable {
    /// Of one type and, if given, subtype.
    case type(NotificationType, NotificationSubtype?)
    /// About one transaction.
    case transaction(String)
}
