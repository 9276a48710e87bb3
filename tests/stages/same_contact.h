/* A header for collide that breaks its contract: it returns the same contact again and again. */
ICE_FN ice_contact ice_collide_custom(const ice_tables *tables, const ice_contact_search *search)
{
    ice_contact contact = ice_no_contact();
    (void)tables, (void)search;
    contact.distance = 9.0f;
    contact.module = 0;
    return contact;
}
